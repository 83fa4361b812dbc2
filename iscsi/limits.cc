// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/limits.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/digest.h"

namespace mpath::iscsi {
namespace {

constexpr std::uint32_t kMinBlock = 512;
constexpr std::uint32_t kMaxBlock = 64 * 1024;
constexpr std::uint32_t kNoLimit = 0xffffffff;
constexpr std::size_t kShortCapacity = 12; ///< of units older than protection information and provisioning
constexpr std::uint16_t kThin = 0x8000;    ///< LBPME, of CapacityData::alignment

/// A structure that may have come in part: the rest is 0.
template <typename T>
T load_beginning(std::span<const std::byte> data) {
    T value{};
    std::memcpy(&value, data.data(), std::min(sizeof value, data.size()));
    return value;
}

template <typename Page>
std::optional<Page> page_of(std::span<const std::byte> data, std::uint8_t number) {
    if (data.size() < sizeof(VpdHeader) || load<VpdHeader>(data).page != number) {
        return std::nullopt;
    }
    const std::size_t length = sizeof(VpdHeader) + load<VpdHeader>(data).length;
    return load_beginning<Page>(data.first(std::min(length, data.size())));
}

bool allows_unmap(const UnitPages& pages) {
    return pages.block_limits && pages.block_limits->max_unmap_blocks != 0 &&
           pages.block_limits->max_unmap_descriptors != 0;
}

/// In bytes; 0 where the device's "no limit" is one.
std::uint64_t bytes_of(std::uint64_t blocks, std::uint32_t block_size) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 47;
    return std::min(blocks, kMost) * block_size;
}

} // namespace

Result<Capacity> parse_capacity(std::span<const std::byte> data) {
    if (data.size() < kShortCapacity) {
        return failure(EPROTO, "READ CAPACITY(16) brought {} bytes, it has at least {} to say", data.size(),
                       kShortCapacity);
    }
    const auto capacity = load_beginning<CapacityData>(data);
    const std::uint32_t block = capacity.block_length;
    if (!std::has_single_bit(block) || block < kMinBlock || block > kMaxBlock) {
        return failure(EMEDIUMTYPE,
                       "the logical unit has blocks of {} bytes; this initiator can use powers of "
                       "two from {} to {}",
                       block, kMinBlock, kMaxBlock);
    }
    if ((capacity.protection & 1) != 0) {
        return failure(EMEDIUMTYPE, "the logical unit is formatted with protection information, which this "
                                    "initiator can't use");
    }
    const std::uint64_t last = capacity.last_lba;
    if (last >= ~std::uint64_t{0} / block) {
        return failure(EPROTO, "READ CAPACITY(16) tells of more bytes than can be counted");
    }
    return Capacity{(last + 1) * block, block, (capacity.alignment & kThin) != 0};
}

std::optional<BlockLimits> parse_block_limits(std::span<const std::byte> data) {
    return page_of<BlockLimits>(data, vpd_page::kBlockLimits);
}

std::optional<Provisioning> parse_provisioning(std::span<const std::byte> data) {
    return page_of<Provisioning>(data, vpd_page::kProvisioning);
}

/// SPC-4, "Mode parameters": a header of 4 bytes, block descriptors, the page.
CachingMode parse_caching_mode(std::span<const std::byte> data) {
    constexpr std::size_t kHeader = 4;
    const auto at = [&data](std::size_t place) {
        return place < data.size() ? std::to_integer<unsigned>(data[place]) : 0U;
    };
    CachingMode mode;
    mode.write_protected = (at(2) & 0x80) != 0;
    mode.force_unit_access = (at(2) & 0x10) != 0;
    const std::size_t page = kHeader + at(3);
    mode.write_cache = (at(page) & 0x3f) == 0x08 && (at(page + 2) & 0x04) != 0;
    return mode;
}

ScsiFeatures features_of(const UnitPages& pages) {
    ScsiFeatures features;
    features.force_unit_access = pages.caching.force_unit_access || pages.caching.write_cache;
    if (pages.provisioning && pages.capacity.thin) {
        const std::uint8_t flags = pages.provisioning->flags5;
        features.unmap = (flags & provisioning_flag::kUnmap) != 0 && allows_unmap(pages);
        features.write_same_unmap = (flags & provisioning_flag::kWriteSame16) != 0;
    }
    return features;
}

DeviceLimits limits_of(const UnitPages& pages) {
    const std::uint32_t block = pages.capacity.block_size;
    const ScsiFeatures features = features_of(pages);
    DeviceLimits limits;
    limits.size = pages.capacity.size;
    limits.block_size = block;
    limits.can_trim = features.unmap || features.write_same_unmap;
    limits.can_write_zeroes = true; // WRITE SAME(16); a unit without it says so when it is asked
    limits.can_flush = pages.caching.write_cache;
    limits.read_only = pages.caching.write_protected;
    if (!pages.block_limits) {
        return limits;
    }
    const BlockLimits& block_limits = *pages.block_limits;
    const std::uint32_t most = kNoLimit / block; // blocks whose bytes can be counted
    limits.max_transfer = std::min(block_limits.max_transfer.get(), most) * block;
    const std::uint64_t same = bytes_of(block_limits.max_write_same, block);
    limits.max_write_zeroes = same;
    const std::uint32_t unmap = block_limits.max_unmap_blocks;
    limits.max_trim = features.unmap ? (unmap == kNoLimit ? 0 : bytes_of(unmap, block)) : same;
    return limits;
}

} // namespace mpath::iscsi
