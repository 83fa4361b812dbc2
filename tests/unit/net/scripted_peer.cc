// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/net/scripted_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

namespace mpath::net::test {
namespace {

constexpr int kPatienceMs = 20'000;
constexpr timeval kPatience{kPatienceMs / 1000, 0};

} // namespace

bool Wire::receive(std::span<std::byte> bytes) const {
    return bytes.empty() ||
           ::recv(socket_, bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size());
}

void Wire::send(std::span<const std::byte> bytes) const {
    // A host that has left already is no fault of the script.
    [[maybe_unused]] const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void Wire::end() const {
    ::shutdown(socket_, SHUT_WR);
}

void Wire::wait_for_end() const {
    std::array<std::byte, 256> ignored{};
    while (::recv(socket_, ignored.data(), ignored.size(), 0) > 0) {
    }
}

ScriptedPeer::ScriptedPeer(Script script) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_.length = sizeof name;
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
        ::listen(listener_.get(), 1) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_.storage), &address_.length) !=
            0) {
        throw std::runtime_error("no loopback port to listen on");
    }
    thread_ = std::thread([this, script = std::move(script)] {
        pollfd ready{listener_.get(), POLLIN, 0};
        if (::poll(&ready, 1, kPatienceMs) != 1) {
            accepted_.set_value(-1);
            return;
        }
        const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
        accepted_.set_value(socket);
        Wire wire(socket);
        script(wire);
        wire.end();
    });
}

ScriptedPeer::~ScriptedPeer() {
    const UniqueFd socket(accepted_.get_future().get());
    if (socket.valid()) {
        ::shutdown(socket.get(), SHUT_RD);
    }
    thread_.join();
}

} // namespace mpath::net::test
