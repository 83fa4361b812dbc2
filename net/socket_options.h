// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace mpath::net {

/// What a connection is to be like; the names are nvme-cli's.
struct SocketOptions {
    /// host_traddr: numeric address to connect from, with its scope if link-local ("fe80::1%eth0"); empty:
    /// the kernel's choice
    std::string source;
    std::string interface;           ///< host_iface: device to connect through; empty: the kernel's choice
    std::optional<std::uint8_t> tos; ///< type of service (IPv4) or traffic class (IPv6)

    bool operator==(const SocketOptions&) const = default;
};

/// Whether connections can be made like that from this host: `source` is one of its addresses and `interface`
/// one of its devices. The sentence names the option. For setting up; makes a socket and drops it.
Result<void> check(const SocketOptions& options);

/// Makes a socket of `family` like that, before it is connected. Precondition: `source` is empty or of that
/// family.
Result<void> apply(const SocketOptions& options, int fd, int family);

/// From now on the connection breaks (ETIMEDOUT) when what was sent is not acknowledged, or the peer takes
/// nothing, for `patience` (TCP_USER_TIMEOUT; whole milliseconds). Without it the kernel repeats for about 15
/// minutes. For a connected socket: it would bound connecting, too.
void limit_silence(int fd, Nanoseconds patience) noexcept;

} // namespace mpath::net
