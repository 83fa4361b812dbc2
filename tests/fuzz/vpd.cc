// SPDX-License-Identifier: GPL-2.0-only
// What a logical unit says of itself: a byte that says which answer, then the answer. For the limits, all of
// the unit's answers, one behind the other: 32 bytes of READ CAPACITY(16), 64 of VPD B0h, 8 of VPD B2h, MODE
// SENSE(6).
#include "iscsi/inquiry.h"
#include "iscsi/limits.h"
#include "iscsi/lun_list.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

namespace {

void identification(std::span<const std::byte> data) {
    const auto found = iscsi::parse_identification(data);
    if (found) {
        const DeviceIdentity& identity = found->identity;
        fuzz::require((identity.kind == DeviceIdentity::Kind::none) == identity.value.empty(),
                      "an identity has a value");
    }
}

void limits(fuzz::Input& input) {
    const auto capacity = iscsi::parse_capacity(input.take(sizeof(iscsi::CapacityData)));
    if (!capacity) {
        fuzz::require(!capacity.error().text.empty(), "a refusal has a sentence");
        return;
    }
    iscsi::UnitPages pages;
    pages.capacity = *capacity;
    pages.block_limits = iscsi::parse_block_limits(input.take(sizeof(iscsi::BlockLimits)));
    pages.provisioning = iscsi::parse_provisioning(input.take(sizeof(iscsi::Provisioning)));
    pages.caching = iscsi::parse_caching_mode(input.rest());
    const DeviceLimits limits = iscsi::limits_of(pages);
    const iscsi::ScsiFeatures features = iscsi::features_of(pages);
    fuzz::require(limits.size != 0 && limits.block_size >= 512, "a unit has blocks");
    for (const std::uint64_t bytes :
         {limits.size, std::uint64_t{limits.max_transfer}, limits.max_trim, limits.max_write_zeroes}) {
        fuzz::require(bytes % limits.block_size == 0, "whole ones");
    }
    fuzz::require(limits.can_trim == (features.unmap || features.write_same_unmap),
                  "what can be done is done by some command");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    switch (input.take<std::uint8_t>() % 6) {
    case 0:
        (void)iscsi::parse_inquiry(input.rest());
        break;
    case 1:
        (void)iscsi::parse_vpd_pages(input.rest());
        break;
    case 2:
        (void)iscsi::parse_unit_serial(input.rest());
        break;
    case 3:
        identification(input.rest());
        break;
    case 4:
        limits(input);
        break;
    default:
        if (const auto luns = iscsi::parse_lun_list(input.rest())) {
            for (const std::uint64_t lun : *luns) {
                fuzz::require(lun < 16384, "a LUN is one that a URI can name");
            }
        }
    }
    return 0;
}
