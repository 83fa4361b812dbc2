// SPDX-License-Identifier: GPL-2.0-only
// The discovery log as a value. NVM Express over Fabrics, "Discovery Log Page".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nvme/wire/discovery.h"

namespace mpath::nvme {

/// Entries of the longest log that is read. 16 MiB of log; the largest fabric management there is has
/// thousands.
inline constexpr std::uint64_t kMaxDiscoveryEntries = 16384;

/// One way to a subsystem or to a discovery service, of whatever transport.
struct DiscoveryEntry {
    std::uint8_t transport = 0; ///< TransportType, or one of a later standard
    std::uint8_t family = 0;    ///< AddressFamily, or one of a later standard
    std::uint8_t subtype = 0;   ///< DiscoverySubtype, or one of a later standard
    std::uint16_t port_id = 0;
    std::uint16_t flags = 0;         ///< eflags
    std::uint8_t secure_channel = 0; ///< TREQ bits 1:0: not said, required, not required
    SecurityType security{};         ///< SECTYPE; `none` for other transports
    std::string subnqn;              ///< of the subsystem or discovery service; empty for some referrals
    std::string address;             ///< numeric, IPv6 without brackets
    std::string service;             ///< the port, for TCP

    bool operator==(const DiscoveryEntry&) const = default;

    [[nodiscard]] bool is(DiscoverySubtype what) const { return subtype == static_cast<std::uint8_t>(what); }
    /// A port that can do TLS and says that it isn't required takes plain connections as well.
    [[nodiscard]] bool requires_tls() const {
        return secure_channel == treq::kSecureChannelRequired ||
               (security != SecurityType::none && secure_channel != treq::kSecureChannelNotRequired);
    }
    /// 0: not a number from 1 to 65535.
    [[nodiscard]] std::uint16_t port() const;
    /// "192.0.2.1:4420", with brackets around an IPv6 address.
    [[nodiscard]] std::string text() const;
    /// Empty: this initiator can connect there. Else why it can't, as the end of a sentence: "requires TLS,
    /// …".
    [[nodiscard]] std::string obstacle() const;
};

/// "TCP", "RDMA", …; "transport 9" for one of a later standard.
[[nodiscard]] std::string transport_name(std::uint8_t type);
/// "IPv4", …; "address family 9" for one of a later standard.
[[nodiscard]] std::string family_name(std::uint8_t family);

struct DiscoverySummary {
    std::uint64_t generation = 0;
    std::uint64_t entries = 0;

    bool operator==(const DiscoverySummary&) const = default;
};

/// EPROTO for a log of a later format or with an impossible number of entries.
[[nodiscard]] Result<DiscoverySummary> decode_discovery_header(const DiscoveryLogHeader& header);

/// All entries in `bytes`, which hold nothing else. A log with an entry that makes no sense is refused as a
/// whole, with EPROTO and the number of the entry, counted from 1. Entries that this initiator has no use for
/// make sense all the same: see obstacle().
[[nodiscard]] Result<std::vector<DiscoveryEntry>> decode_discovery_entries(std::span<const std::byte> bytes);

} // namespace mpath::nvme
