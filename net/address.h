// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mpath::net {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;

    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    [[nodiscard]] int family() const { return storage.ss_family; }
    /// "127.0.0.1:4420", "[::1]:4420", "[fe80::1%eth0]:4420".
    [[nodiscard]] std::string text() const;
};

/// The addresses a host name or numeric address stands for, in the resolver's order; at least one.
/// Blocks while the resolver does. The sentence names the host.
Result<std::vector<SocketAddress>> resolve(const std::string& host, std::uint16_t port);

/// The address that `text` is, with its scope if it has one ("fe80::1%eth0"); EINVAL when it is none. Never
/// asks a resolver.
Result<SocketAddress> numeric_address(const std::string& text);

/// One text for one numeric address, however a target writes it. A link-local one gets `zone` ("eth0"; empty:
/// none), whatever zone it came with: a target can't know those of this host. Anything else stays as it is.
[[nodiscard]] std::string canonical_address(const std::string& address, std::string_view zone);

/// A non-blocking, close-on-exec TCP socket without Nagle's delay.
Result<UniqueFd> make_tcp_socket(int family);

/// The ends of a connected socket; empty text when there is none.
std::string local_address(int fd);
std::string peer_address(int fd);

} // namespace mpath::net
