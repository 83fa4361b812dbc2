// SPDX-License-Identifier: GPL-2.0-only
// An initiator's byte stream against the embedded target. Input: a byte with options, a byte with the seed of
// the cuts, then the stream. Half of the options begin in a session, behind a login that is always the same.
#include <sys/socket.h>

#include <array>
#include <memory>
#include <random>
#include <string>

#include "iscsi/wire/pdu.h"
#include "target/iscsi/connection.h"
#include "target/iscsi/node.h"
#include "target/iscsi/text.h"
#include "target/subsystem.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

namespace {

constexpr std::size_t kDrain = 1 << 16;
constexpr std::uint8_t kNull = 1;
constexpr std::uint8_t kLoggedIn = 2;
constexpr std::uint8_t kDiscovery = 4;
constexpr std::uint8_t kChap = 8;
constexpr std::uint8_t kAttention = 16;
constexpr std::uint8_t kTwoUnits = 32;

target::Options options_from(std::uint8_t bits) {
    target::Options options;
    options.listeners.emplace_back().protocol = target::Protocol::iscsi;
    options.size = 1 << 20;
    options.null = (bits & kNull) != 0;
    options.namespaces = (bits & kTwoUnits) != 0 ? 2 : 1;
    options.device_id = "fuzz";
    options.queue_size = 8;
    options.max_r2t = 2;
    options.r2t_size = 4096;
    options.iscsi.max_receive = 8192;
    options.iscsi.first_burst = 4096;
    options.iscsi.power_on_attention = (bits & kAttention) != 0;
    if ((bits & kChap) != 0) {
        options.iscsi.chap = {"user", "twelve bytes", "target", "twelve others"};
    }
    return options;
}

std::string login(bool discovery) {
    std::string text;
    target::scsi::append_key(text, "InitiatorName", "iqn.2025-01.io.test:fuzz");
    target::scsi::append_key(text, "SessionType", discovery ? "Discovery" : "Normal");
    target::scsi::append_key(text, "TargetName", target::IscsiOptions().name);
    target::scsi::append_key(text, "InitialR2T", "No");
    target::scsi::append_key(text, "MaxOutstandingR2T", "2");
    iscsi::LoginRequest request;
    request.flags = iscsi::login_flag::kTransit |
                    iscsi::login_stages(iscsi::LoginStage::operational, iscsi::LoginStage::full_feature);
    request.data_length = static_cast<std::uint32_t>(text.size());
    std::string bytes(reinterpret_cast<const char*>(&request), sizeof(request));
    bytes += text;
    bytes.resize(sizeof(request) + iscsi::padded(static_cast<std::uint32_t>(text.size())));
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto bits = input.take<std::uint8_t>();
    auto options = target::checked(options_from(bits));
    fuzz::require(options.has_value(), "the options are fine");
    std::minstd_rand random(input.take<std::uint8_t>() + 1U);
    auto subsystem = target::Subsystem::create(*options);
    fuzz::require(subsystem.has_value(), "there is a subsystem");
    target::Listener listener;
    listener.options = options->listeners.front();
    listener.address = "127.0.0.1:3260";
    target::scsi::Node node(**subsystem);
    node.add_portal(listener);
    std::array<int, 2> pair{};
    fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()) == 0,
                  "there is a socket");
    const UniqueFd initiator(pair[0]);
    static std::array<std::byte, kDrain> answers;
    {
        target::scsi::Connection connection(UniqueFd(pair[1]), node, listener);
        Nanoseconds now = kSecond;
        const auto turn = [&](const void* bytes, std::size_t length) {
            static_cast<void>(::send(initiator.get(), bytes, length, MSG_NOSIGNAL));
            connection.on_readable(now);
            while (::recv(initiator.get(), answers.data(), answers.size(), 0) > 0) {
                connection.on_writable();
            }
            connection.on_timer(now += kMillisecond);
        };
        if ((bits & kLoggedIn) != 0) {
            const std::string first = login((bits & kDiscovery) != 0);
            turn(first.data(), first.size());
        }
        while (!input.rest().empty() && !connection.closed()) {
            const auto part = input.take(1 + (random() % 4 == 0 ? random() % 8192 : random() % 100));
            turn(part.data(), part.size());
        }
    }
    node.sweep();
    fuzz::require(node.sessions().empty(), "no session outlives its connection");
    return 0;
}
