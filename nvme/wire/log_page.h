// SPDX-License-Identifier: GPL-2.0-only
// Log pages, features and asynchronous events. NVM Express Base Specification, "Get Log Page command",
// "Set Features command" and "Asynchronous Event Request command".
#pragma once

#include <array>
#include <cstdint>

#include "base/endian.h"
#include "base/layout.h"

namespace mpath::nvme {

namespace log_page {
inline constexpr std::uint8_t kError = 0x01;
inline constexpr std::uint8_t kSmart = 0x02;
inline constexpr std::uint8_t kChangedNamespaces = 0x04;
inline constexpr std::uint8_t kAna = 0x0c;
inline constexpr std::uint8_t kDiscovery = 0x70;
} // namespace log_page

/// Get Log Page cdw10: bits 7:0 page, 14:8 LSP, 15 RAE, 31:16 the low half of the number of dwords (0's
/// based); cdw11 bits 15:0 its high half; cdw12 and 13 the offset in bytes.
inline constexpr std::uint32_t kRetainAsyncEvent = 1U << 15;
inline constexpr std::uint32_t kAnaGroupsOnly = 1U << 8; ///< LSP bit 0 (RGO): leave the NSIDs out

namespace feature {
inline constexpr std::uint8_t kNumberOfQueues = 0x07;
inline constexpr std::uint8_t kAsyncEventConfiguration = 0x0b;
inline constexpr std::uint8_t kKeepAliveTimer = 0x0f;
inline constexpr std::uint8_t kHostBehaviorSupport = 0x16;
} // namespace feature

/// What the host says it can do, as the data of Set Features (Host Behavior Support).
struct HostBehavior {
    std::uint8_t acre = 0; ///< 1: it heeds the retry delay of a status
    std::array<std::uint8_t, 511> reserved1{};
};
static_assert(sizeof(HostBehavior) == 512);

/// ANA state in a group descriptor, low nibble.
enum class AnaState : std::uint8_t {
    optimized = 0x1,
    non_optimized = 0x2,
    inaccessible = 0x3,
    persistent_loss = 0x4,
    change = 0xf,
};

struct AnaLogHeader {
    Le64 change_count;
    Le16 groups;
    std::array<std::uint8_t, 6> reserved10{};
};
MPATH_SIZE(AnaLogHeader, 16);
MPATH_AT(AnaLogHeader, change_count, 0);
MPATH_AT(AnaLogHeader, groups, 8);
MPATH_AT(AnaLogHeader, reserved10, 10);

/// `nsids` le32 numbers follow, ascending.
struct AnaGroupDescriptor {
    Le32 group;
    Le32 nsids;
    Le64 change_count;
    std::uint8_t state = 0; ///< AnaState in bits 3:0
    std::array<std::uint8_t, 15> reserved17{};
};
MPATH_SIZE(AnaGroupDescriptor, 32);
MPATH_AT(AnaGroupDescriptor, group, 0);
MPATH_AT(AnaGroupDescriptor, nsids, 4);
MPATH_AT(AnaGroupDescriptor, change_count, 8);
MPATH_AT(AnaGroupDescriptor, state, 16);
MPATH_AT(AnaGroupDescriptor, reserved17, 17);

/// Completion dw0 of an Async Event Request.
struct AsyncEvent {
    std::uint32_t dw0 = 0;

    static constexpr std::uint32_t kNamespaceAttributeChanged = 0x040002;
    static constexpr std::uint32_t kAnaChanged = 0x0c0302;
    static constexpr std::uint32_t kDiscoveryLogChanged = 0x70f002;

    [[nodiscard]] constexpr std::uint8_t type() const { return static_cast<std::uint8_t>(dw0 & 7); }
    [[nodiscard]] constexpr std::uint8_t info() const { return static_cast<std::uint8_t>(dw0 >> 8); }
    /// Reading this page without kRetainAsyncEvent lets the event come again.
    [[nodiscard]] constexpr std::uint8_t page() const { return static_cast<std::uint8_t>(dw0 >> 16); }
};

struct SmartLog {
    std::uint8_t critical_warning = 0;
    Le16 temperature; ///< kelvins
    std::uint8_t available_spare = 0;
    std::uint8_t available_spare_threshold = 0;
    std::uint8_t percentage_used = 0;
    std::array<std::uint8_t, 506> reserved6{};
};
MPATH_SIZE(SmartLog, 512);
MPATH_AT(SmartLog, critical_warning, 0);
MPATH_AT(SmartLog, temperature, 1);
MPATH_AT(SmartLog, available_spare, 3);
MPATH_AT(SmartLog, available_spare_threshold, 4);
MPATH_AT(SmartLog, percentage_used, 5);
MPATH_AT(SmartLog, reserved6, 6);

inline constexpr std::uint32_t kErrorLogEntrySize = 64;

} // namespace mpath::nvme
