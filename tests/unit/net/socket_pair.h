// SPDX-License-Identifier: GPL-2.0-only
// Two connected TCP sockets on the loopback, and what a test needs to play the far end of one: everything in
// one thread, so the far end never blocks.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace mpath::net::test {

struct SocketPair {
    UniqueFd ours;
    UniqueFd theirs; ///< does not block
};

/// `buffer`: bytes the kernel holds in each direction before a sender has to wait; 0: its default, megabytes.
inline SocketPair make_socket_pair(int buffer = 0) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    SocketPair pair;
    pair.ours.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    for (const int fd : {listener.get(), pair.ours.get()}) {
        if (buffer > 0) {
            ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
            ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
        }
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length);
    ::listen(listener.get(), 1);
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
    ::connect(pair.ours.get(), reinterpret_cast<sockaddr*>(&address), length);
    pair.theirs.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    for (const int fd : {pair.ours.get(), pair.theirs.get()}) {
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return pair;
}

/// The far end: sends and receives as far as the kernel takes and gives, each time pump() is called.
class FarEnd {
public:
    explicit FarEnd(UniqueFd fd) : fd_(std::move(fd)) {}

    void send(std::span<const std::byte> bytes) {
        outgoing_.insert(outgoing_.end(), bytes.begin(), bytes.end());
        pump_out();
    }
    /// While false, what arrives stays in the kernel.
    void set_reading(bool reading) { reading_ = reading; }
    void pump() {
        pump_out();
        std::byte chunk[64 * 1024];
        while (reading_ && fd_.valid() && !ended_) {
            const auto count = ::recv(fd_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
            if (count > 0) {
                received_.insert(received_.end(), chunk, chunk + count);
                continue;
            }
            ended_ = count == 0 || (errno != EAGAIN && errno != EINTR);
            error_ = count < 0 && ended_ ? errno : 0;
            break;
        }
    }
    [[nodiscard]] std::vector<std::byte>& received() { return received_; }
    /// The connection has ended; error() is 0 for an orderly end.
    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] int error() const { return error_; }
    void close() { fd_.reset(); }
    /// Ends it by RST, as a crashed peer does.
    void reset() {
        const linger now{1, 0};
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
        fd_.reset();
    }

private:
    void pump_out() {
        while (fd_.valid() && !outgoing_.empty()) {
            const auto count =
                ::send(fd_.get(), outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (count <= 0) {
                break;
            }
            outgoing_.erase(outgoing_.begin(), outgoing_.begin() + count);
        }
    }

    UniqueFd fd_;
    std::vector<std::byte> outgoing_;
    std::vector<std::byte> received_;
    bool reading_ = true;
    bool ended_ = false;
    int error_ = 0;
};

} // namespace mpath::net::test
