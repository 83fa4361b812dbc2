// SPDX-License-Identifier: GPL-2.0-only
#include "target/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace mpath::target {

namespace {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
    bool loopback = false;
};

Result<SocketAddress> parse_address(const std::string& text, std::uint16_t port) {
    SocketAddress address;
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        address.size = sizeof(v4);
        address.loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
        std::memcpy(&address.storage, &v4, sizeof(v4));
        return address;
    }
    if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        address.size = sizeof(v6);
        address.loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
        std::memcpy(&address.storage, &v6, sizeof(v6));
        return address;
    }
    return failure(EINVAL, "'{}' is not a numeric IPv4 or IPv6 address", text);
}

std::uint16_t bound_port(int socket) {
    sockaddr_storage storage{};
    socklen_t size = sizeof(storage);
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
        return 0;
    }
    if (storage.ss_family == AF_INET) {
        return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
    }
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
}

/// A socket bound to the address, invalid if that fails (errno).
UniqueFd bind_socket(const SocketAddress& address) {
    UniqueFd bound(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    const int on = 1;
    if (!bound.valid() || ::setsockopt(bound.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        ::bind(bound.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
        return {};
    }
    return bound;
}

} // namespace

Result<void> stop_listening(Listener& listener) {
    auto address = parse_address(listener.options.address, listener.options.port);
    if (!address) {
        return tl::unexpected(address.error());
    }
    listener.socket.reset();
    listener.socket = bind_socket(*address);
    if (!listener.socket.valid()) {
        return failure(errno, "listener {}: cannot keep {}: {}", listener.options.name, listener.address,
                       std::strerror(errno));
    }
    return {};
}

Result<void> listen_again(Listener& listener) {
    if (::listen(listener.socket.get(), SOMAXCONN) != 0) {
        return failure(errno, "listener {}: cannot listen on {} again: {}", listener.options.name,
                       listener.address, std::strerror(errno));
    }
    return {};
}

Result<Listener> open_listener(const ListenerOptions& options, bool allow_remote) {
    auto address = parse_address(options.address, options.port);
    if (!address) {
        return failure_in(fmt::format("listener {}", options.name), address.error());
    }
    if (!address->loopback && !allow_remote) {
        return failure(
            EPERM,
            "listener {}: {} can be reached from other hosts, and this target lets everybody in; take "
            "a loopback address or add --allow-remote",
            options.name, options.address);
    }
    Listener listener;
    listener.options = options;
    listener.socket = bind_socket(*address);
    if (!listener.socket.valid() || ::listen(listener.socket.get(), SOMAXCONN) != 0) {
        return failure(errno, "listener {}: cannot listen on {} port {}: {}", options.name, options.address,
                       options.port, std::strerror(errno));
    }
    listener.options.port = bound_port(listener.socket.get());
    const bool v6 = address->storage.ss_family == AF_INET6;
    listener.address = v6 ? fmt::format("[{}]:{}", options.address, listener.options.port)
                          : fmt::format("{}:{}", options.address, listener.options.port);
    return listener;
}

} // namespace mpath::target
