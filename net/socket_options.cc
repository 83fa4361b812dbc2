// SPDX-License-Identifier: GPL-2.0-only
#include "net/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

#include "net/address.h"

namespace mpath::net {
namespace {

Result<void> set_tos(int tos, int fd, int family) {
    const int level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (::setsockopt(fd, level, family == AF_INET6 ? IPV6_TCLASS : IP_TOS, &tos, sizeof tos) != 0) {
        return failure(errno, "tos={} can't be set: {}", tos, std::strerror(errno));
    }
    return {};
}

Result<void> bind_to_interface(const std::string& interface, int fd) {
    const auto length = static_cast<socklen_t>(interface.size());
    if (::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.data(), length) == 0) {
        return {};
    }
    switch (errno) {
    case ENODEV:
        return failure(ENODEV, "host_iface={}: this host has no such device", interface);
    case EPERM:
        return failure(EPERM, "host_iface={}: before Linux 5.7 only root may bind to a device", interface);
    default:
        return failure(errno, "host_iface={} can't be used: {}", interface, std::strerror(errno));
    }
}

Result<void> bind_to_source(const std::string& source, int fd) {
    const auto address = numeric_address(source);
    if (!address) {
        return failure_in("host_traddr", address.error());
    }
    // The port is chosen by connect() then, which knows the other end: many connections can share one.
    const int on = 1;
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd, address->get(), address->length) == 0) {
        return {};
    }
    switch (errno) {
    case EADDRNOTAVAIL:
        return failure(EADDRNOTAVAIL, "host_traddr={} is not an address of this host", source);
    case EINVAL:
        return failure(EINVAL, "host_traddr={} needs the device it is valid on, as in {}%eth0", source,
                       source);
    default:
        return failure(errno, "host_traddr={} can't be used: {}", source, std::strerror(errno));
    }
}

} // namespace

Result<void> apply(const SocketOptions& options, int fd, int family) {
    Result<void> result;
    if (options.tos) {
        result = set_tos(*options.tos, fd, family);
    }
    if (result && !options.interface.empty()) {
        result = bind_to_interface(options.interface, fd);
    }
    if (result && !options.source.empty()) {
        result = bind_to_source(options.source, fd);
    }
    return result;
}

void limit_silence(int fd, Nanoseconds patience) noexcept {
    const auto milliseconds = static_cast<unsigned>(patience / kMillisecond);
    // Every Linux has it; and what it is for is noticed in other ways as well, only later.
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

Result<void> check(const SocketOptions& options) {
    int family = AF_INET;
    if (!options.source.empty()) {
        const auto source = numeric_address(options.source);
        if (!source) {
            return failure_in("host_traddr", source.error());
        }
        family = source->family();
    }
    const auto socket = make_tcp_socket(family);
    if (!socket) {
        return tl::unexpected<Error>(socket.error());
    }
    return apply(options, socket->get(), family);
}

} // namespace mpath::net
