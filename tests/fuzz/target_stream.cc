// SPDX-License-Identifier: GPL-2.0-only
// A host's byte stream against the embedded target. Input: a byte with options, a byte with the seed of the
// cuts, then the stream.
#include <sys/socket.h>

#include <array>
#include <memory>
#include <random>

#include "target/connection.h"
#include "target/subsystem.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

namespace {

constexpr std::size_t kDrain = 1 << 16;

target::Options options_from(std::uint8_t bits) {
    target::Options options;
    options.listeners.emplace_back();
    options.size = 1 << 20;
    options.null = (bits & 1) != 0;
    options.in_capsule = (bits & 2) != 0 ? 0 : 8192;
    options.max_h2c_data = 4096;
    options.io_queues = 4;
    options.controllers = 4;
    return options;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    auto options = target::checked(options_from(input.take<std::uint8_t>()));
    fuzz::require(options.has_value(), "the options are fine");
    std::minstd_rand random(input.take<std::uint8_t>() + 1U);
    auto subsystem = target::Subsystem::create(*options);
    fuzz::require(subsystem.has_value(), "there is a subsystem");
    target::Listener listener;
    listener.options = options->listeners.front();
    std::array<int, 2> pair{};
    fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()) == 0,
                  "there is a socket");
    const UniqueFd host(pair[0]);
    static std::array<std::byte, kDrain> answers;
    {
        target::Connection connection(UniqueFd(pair[1]), **subsystem, listener);
        Nanoseconds now = kSecond;
        while (!input.rest().empty() && !connection.closed()) {
            const auto part = input.take(1 + (random() % 4 == 0 ? random() % 8192 : random() % 100));
            static_cast<void>(::send(host.get(), part.data(), part.size(), MSG_NOSIGNAL));
            connection.on_readable(now);
            while (::recv(host.get(), answers.data(), answers.size(), 0) > 0) {
                connection.on_writable();
            }
            connection.on_timer(now += kMillisecond);
        }
    }
    return 0;
}
