// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mpath::net {

/// What a connection is to be like; the names are nvme-cli's.
struct SocketOptions {
    std::string source;    ///< host_traddr: numeric address to connect from; empty: the kernel's choice
    std::string interface; ///< host_iface: device to connect through; empty: the kernel's choice
    std::optional<std::uint8_t> tos; ///< type of service (IPv4) or traffic class (IPv6)

    bool operator==(const SocketOptions&) const = default;
};

} // namespace mpath::net
