// SPDX-License-Identifier: GPL-2.0-only
#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cstring>
#include <memory>

namespace mpath::net {
namespace {

/// 0, or the error of getaddrinfo().
int look_up(const std::string& host, const std::string& port, int flags,
            std::vector<SocketAddress>& addresses) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* list = nullptr;
    const int rc = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (rc != 0) {
        return rc;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
        SocketAddress address;
        std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
        address.length = info->ai_addrlen;
        addresses.push_back(address);
    }
    return 0;
}

} // namespace

std::string SocketAddress::text() const {
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (length == 0 || ::getnameinfo(get(), length, host, sizeof host, port, sizeof port,
                                     NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return {};
    }
    return family() == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<std::vector<SocketAddress>> resolve(const std::string& host, std::uint16_t port) {
    std::vector<SocketAddress> addresses;
    const int rc = look_up(host, std::to_string(port), AI_NUMERICSERV, addresses);
    if (rc != 0) {
        return failure(EHOSTUNREACH, "host {} can't be resolved: {}", host,
                       rc == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(rc));
    }
    return addresses;
}

Result<SocketAddress> numeric_address(const std::string& text) {
    std::vector<SocketAddress> addresses;
    if (look_up(text, "0", AI_NUMERICSERV | AI_NUMERICHOST, addresses) != 0) {
        return failure(EINVAL, "{} is not a numeric address", text);
    }
    return addresses.front();
}

std::string canonical_address(const std::string& address, std::string_view zone) {
    char text[INET6_ADDRSTRLEN];
    in_addr v4{};
    if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) {
        return ::inet_ntop(AF_INET, &v4, text, sizeof text);
    }
    in6_addr v6{};
    if (::inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &v6) == 1) {
        const std::string plain = ::inet_ntop(AF_INET6, &v6, text, sizeof text);
        return IN6_IS_ADDR_LINKLOCAL(&v6) && !zone.empty() ? fmt::format("{}%{}", plain, zone) : plain;
    }
    return address;
}

Result<UniqueFd> make_tcp_socket(int family) {
    UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    if (!fd.valid()) {
        return failure(errno, "no socket: {}", std::strerror(errno));
    }
    const int on = 1;
    if (::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        return failure(errno, "TCP_NODELAY can't be set: {}", std::strerror(errno));
    }
    return fd;
}

std::string local_address(int fd) {
    SocketAddress address;
    address.length = sizeof address.storage;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
        return {};
    }
    return address.text();
}

std::string peer_address(int fd) {
    SocketAddress address;
    address.length = sizeof address.storage;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
        return {};
    }
    return address.text();
}

} // namespace mpath::net
