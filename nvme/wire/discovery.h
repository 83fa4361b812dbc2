// SPDX-License-Identifier: GPL-2.0-only
// The discovery log, page 70h of a discovery controller. NVM Express over Fabrics, "Discovery Log Page"; the
// NVMe/TCP Transport Specification has the transport's own part of an entry.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/endian.h"
#include "base/layout.h"

namespace mpath::nvme {

/// Every discovery controller answers to it, whatever further NQN it has.
inline constexpr std::string_view kDiscoveryNqn = "nqn.2014-08.org.nvmexpress.discovery";
inline constexpr std::uint16_t kDiscoveryPort = 8009;       ///< IANA's for NVMe/TCP discovery
inline constexpr std::uint8_t kDiscoveryControllerType = 2; ///< CNTRLTYPE of Identify Controller

/// TRTYPE.
enum class TransportType : std::uint8_t { rdma = 1, fibre_channel = 2, tcp = 3, loop = 254 };

/// ADRFAM.
enum class AddressFamily : std::uint8_t { ipv4 = 1, ipv6 = 2, infiniband = 3, fibre_channel = 4, loop = 254 };

/// SUBTYPE: what an entry leads to.
enum class DiscoverySubtype : std::uint8_t {
    referral = 1,  ///< another discovery service, which knows more
    subsystem = 2, ///< an NVM subsystem
    current = 3,   ///< this discovery service itself
};

namespace treq {
inline constexpr std::uint8_t kSecureChannelMask = 3;
inline constexpr std::uint8_t kSecureChannelRequired = 1;
inline constexpr std::uint8_t kSecureChannelNotRequired = 2;
inline constexpr std::uint8_t kCanDisableSqFlowControl = 1U << 2;
} // namespace treq

namespace eflags {
/// All entries with it lead to services that tell the same.
inline constexpr std::uint16_t kDuplicateReturnedInformation = 1U << 0;
} // namespace eflags

/// SECTYPE: the first byte of TSAS where TRTYPE is TCP.
enum class SecurityType : std::uint8_t { none = 0, tls12 = 1, tls13 = 2 };

struct DiscoveryLogHeader {
    Le64 generation; ///< GENCTR: another one with every change of the log
    Le64 records;    ///< NUMREC: entries that follow
    Le16 format;     ///< RECFMT: 0
    std::array<std::uint8_t, 1006> reserved18{};
};
MPATH_SIZE(DiscoveryLogHeader, 1024);
MPATH_AT(DiscoveryLogHeader, generation, 0);
MPATH_AT(DiscoveryLogHeader, records, 8);
MPATH_AT(DiscoveryLogHeader, format, 16);
MPATH_AT(DiscoveryLogHeader, reserved18, 18);

struct DiscoveryLogEntry {
    std::uint8_t trtype = 0;  ///< TransportType
    std::uint8_t adrfam = 0;  ///< AddressFamily
    std::uint8_t subtype = 0; ///< DiscoverySubtype
    std::uint8_t treq = 0;
    Le16 portid;
    Le16 cntlid;
    Le16 asqsz; ///< entries of the largest admin queue
    Le16 eflags;
    std::array<std::uint8_t, 20> reserved12{};
    std::array<char, 32> trsvcid{}; ///< padded with NULs or blanks
    std::array<std::uint8_t, 192> reserved64{};
    std::array<char, 256> subnqn{}; ///< ends with NUL
    std::array<char, 256> traddr{}; ///< padded with NULs or blanks
    std::array<std::uint8_t, 256> tsas{};
};
MPATH_SIZE(DiscoveryLogEntry, 1024);
MPATH_AT(DiscoveryLogEntry, trtype, 0);
MPATH_AT(DiscoveryLogEntry, adrfam, 1);
MPATH_AT(DiscoveryLogEntry, subtype, 2);
MPATH_AT(DiscoveryLogEntry, treq, 3);
MPATH_AT(DiscoveryLogEntry, portid, 4);
MPATH_AT(DiscoveryLogEntry, cntlid, 6);
MPATH_AT(DiscoveryLogEntry, asqsz, 8);
MPATH_AT(DiscoveryLogEntry, eflags, 10);
MPATH_AT(DiscoveryLogEntry, reserved12, 12);
MPATH_AT(DiscoveryLogEntry, trsvcid, 32);
MPATH_AT(DiscoveryLogEntry, reserved64, 64);
MPATH_AT(DiscoveryLogEntry, subnqn, 256);
MPATH_AT(DiscoveryLogEntry, traddr, 512);
MPATH_AT(DiscoveryLogEntry, tsas, 768);

} // namespace mpath::nvme
