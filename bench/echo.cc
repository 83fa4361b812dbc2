// SPDX-License-Identifier: GPL-2.0-only
// The floor under a read at depth 1: a bare TCP round trip of the same bytes, 72 out and 4120 back, between
// two processes with plain send and recv. Prints one line of JSON.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/clock.h"
#include "net/address.h"

namespace {

using mpath::Nanoseconds;

constexpr std::size_t kRequest = 72;
constexpr std::size_t kAnswer = 24 + 4096;

void die(const char* what) {
    fmt::print(stderr, "bench-echo: {}: {}\n", what, std::strerror(errno));
    std::exit(1);
}

/// Exactly `size` bytes; false at the end of the stream.
bool receive(int fd, std::byte* buffer, std::size_t size, bool spin) {
    while (size > 0) {
        const ssize_t got = ::recv(fd, buffer, size, spin ? MSG_DONTWAIT : 0);
        if (got > 0) {
            buffer += got;
            size -= static_cast<std::size_t>(got);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        }
    }
    return true;
}

[[noreturn]] void serve(int listener, bool spin) {
    const int fd = ::accept(listener, nullptr, nullptr);
    std::vector<std::byte> request(kRequest);
    const std::vector<std::byte> answer(kAnswer);
    while (receive(fd, request.data(), request.size(), spin)) {
        if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    ::_exit(0);
}

} // namespace

int main(int argc, char** argv) {
    bool spin_client = false;
    bool spin_server = false;
    double seconds = 2;
    CLI::App app("TCP round trips of the bytes of one 4 KiB read");
    app.add_flag("--spin-client", spin_client, "poll the socket instead of sleeping");
    app.add_flag("--spin-server", spin_server, "poll the socket instead of sleeping");
    app.add_option("--seconds", seconds, "how long")->check(CLI::Range(0.1, 60.0));
    CLI11_PARSE(app, argc, argv);

    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto addresses = mpath::net::resolve("127.0.0.1", 0);
    if (!addresses || ::bind(listener, addresses->front().get(), addresses->front().length) != 0 ||
        ::listen(listener, 1) != 0) {
        die("listen");
    }
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length);
    const pid_t server = ::fork();
    if (server == 0) {
        serve(listener, spin_server);
    }
    auto fd = mpath::net::make_tcp_socket(AF_INET);
    if (!fd || ::fcntl(fd->get(), F_SETFL, 0) != 0 ||
        ::connect(fd->get(), reinterpret_cast<sockaddr*>(&bound), length) != 0) {
        die("connect");
    }

    const mpath::SystemClock clock;
    const std::vector<std::byte> request(kRequest);
    std::vector<std::byte> answer(kAnswer);
    std::vector<Nanoseconds> times;
    const Nanoseconds begin = clock.now();
    const auto end = begin + static_cast<Nanoseconds>(seconds * 1e9);
    Nanoseconds now = begin;
    while (now < end) {
        if (::send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
            !receive(fd->get(), answer.data(), answer.size(), spin_client)) {
            die("round trip");
        }
        const Nanoseconds after = clock.now();
        times.push_back(after - now);
        now = after;
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    ::kill(server, SIGTERM);
    ::waitpid(server, nullptr, 0);
    std::sort(times.begin(), times.end());
    const auto count = static_cast<double>(times.size());
    const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                       static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    fmt::print("{{\"round_trips\": {}, \"iops\": {:.0f}, \"mean_us\": {:.2f}, \"p50_us\": {:.2f}, "
               "\"p99_us\": {:.2f}, \"cpu_us\": {:.2f}}}\n",
               times.size(), count * 1e9 / static_cast<double>(now - begin),
               static_cast<double>(now - begin) / count / 1e3,
               static_cast<double>(times[times.size() / 2]) / 1e3,
               static_cast<double>(times[times.size() * 99 / 100]) / 1e3, cpu / count);
}
