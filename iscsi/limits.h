// SPDX-License-Identifier: GPL-2.0-only
// Sizes and limits of a logical unit: READ CAPACITY(16), VPD pages B0h and B2h, MODE SENSE. SBC-3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "iscsi/features.h"
#include "iscsi/wire/scsi.h"
#include "path/device.h"

namespace mpath::iscsi {

struct Capacity {
    std::uint64_t size = 0;       ///< bytes
    std::uint32_t block_size = 0; ///< bytes
    bool thin = false;            ///< LBPME: blocks can be given back

    bool operator==(const Capacity&) const = default;
};

/// EMEDIUMTYPE for what this initiator can't use: protection information, blocks of an odd size. EPROTO for
/// no capacity.
[[nodiscard]] Result<Capacity> parse_capacity(std::span<const std::byte> data);

/// VPD B0h; what did not come is 0. Nothing for another page.
[[nodiscard]] std::optional<BlockLimits> parse_block_limits(std::span<const std::byte> data);
/// VPD B2h, likewise.
[[nodiscard]] std::optional<Provisioning> parse_provisioning(std::span<const std::byte> data);

/// What MODE SENSE(6) for the caching page says.
struct CachingMode {
    bool write_protected = false;
    bool write_cache = false;       ///< WCE; false where the page is not there
    bool force_unit_access = false; ///< DPOFUA: the unit knows the bit

    bool operator==(const CachingMode&) const = default;
};
[[nodiscard]] CachingMode parse_caching_mode(std::span<const std::byte> data);

/// What is known of a unit; absent: the target has no such page.
struct UnitPages {
    Capacity capacity;
    std::optional<BlockLimits> block_limits;
    std::optional<Provisioning> provisioning;
    CachingMode caching;
};

/// By which commands the unit trims. None, where READ CAPACITY(16) denies it: as Linux has it.
[[nodiscard]] ScsiFeatures features_of(const UnitPages& pages);
[[nodiscard]] DeviceLimits limits_of(const UnitPages& pages);

} // namespace mpath::iscsi
