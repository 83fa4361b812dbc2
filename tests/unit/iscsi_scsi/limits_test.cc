// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/limits.h"

#include <gtest/gtest.h>

#include "tests/unit/iscsi_scsi/hex_bytes.h"

namespace mpath::iscsi::test {
namespace {

template <typename T>
Bytes bytes_of_object(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
}

// ---- READ CAPACITY(16)

Bytes capacity_data(std::string_view last_lba, std::string_view block_length, std::string_view more = "") {
    Bytes data = hex(last_lba) + hex(block_length) + hex(more);
    data.resize(sizeof(CapacityData));
    return data;
}

TEST(Capacity, is_one_block_more_than_the_last) {
    const auto capacity = parse_capacity(capacity_data("00000000 0003ffff", "00001000", "00 00 8000"));
    ASSERT_TRUE(capacity) << capacity.error().text;
    EXPECT_EQ(*capacity, (Capacity{std::uint64_t{1} << 30, 4096, true}));
}

TEST(Capacity, of_an_old_unit_is_known_as_well) {
    EXPECT_EQ(parse_capacity(hex("0000000000000007 00000200")).value(), (Capacity{4096, 512, false}));
}

TEST(Capacity, refuses_what_this_initiator_can_not_use) {
    const struct {
        Bytes data;
        int code;
        std::string sentence;
    } cases[] = {
        {capacity_data("00000000 0003ffff", "00000208"), EMEDIUMTYPE,
         "the logical unit has blocks of 520 bytes; this initiator can use powers of two from 512 to 65536"},
        {capacity_data("00000000 0003ffff", "00000000"), EMEDIUMTYPE,
         "the logical unit has blocks of 0 bytes; this initiator can use powers of two from 512 to 65536"},
        {capacity_data("00000000 0003ffff", "00000100"), EMEDIUMTYPE,
         "the logical unit has blocks of 256 bytes; this initiator can use powers of two from 512 to 65536"},
        {capacity_data("00000000 0003ffff", "00020000"), EMEDIUMTYPE,
         "the logical unit has blocks of 131072 bytes; this initiator can use powers of two from 512 to "
         "65536"},
        {capacity_data("00000000 0003ffff", "00000200", "01"), EMEDIUMTYPE,
         "the logical unit is formatted with protection information, which this initiator can't use"},
        {capacity_data("ffffffff ffffffff", "00000200"), EPROTO,
         "READ CAPACITY(16) tells of more bytes than can be counted"},
        {capacity_data("007fffff ffffffff", "00000200"), EPROTO,
         "READ CAPACITY(16) tells of more bytes than can be counted"},
        {hex("0000000000000007 000002"), EPROTO,
         "READ CAPACITY(16) brought 11 bytes, it has at least 12 to say"},
    };
    for (const auto& row : cases) {
        const auto capacity = parse_capacity(row.data);
        ASSERT_FALSE(capacity) << row.sentence;
        EXPECT_EQ(capacity.error().code, row.code) << row.sentence;
        EXPECT_EQ(capacity.error().text, row.sentence);
    }
    EXPECT_TRUE(parse_capacity(capacity_data("007fffff fffffffe", "00000200"))) << "the largest";
}

// ---- VPD B0h and B2h

TEST(BlockLimitsPage, of_an_old_unit_is_its_beginning) {
    const auto limits = parse_block_limits(hex("00 b0 000c 00 00 0008 00000800 00000080 ffffffff ffffffff"));
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->max_transfer, 0x800U);
    EXPECT_EQ(limits->optimal_transfer, 0x80U);
    EXPECT_EQ(limits->max_unmap_blocks, 0U) << "behind the page's end";
}

TEST(VpdPageOfLimits, is_nothing_when_it_is_another) {
    EXPECT_FALSE(parse_block_limits(hex("00 b2 0004 00 80 02 00")));
    EXPECT_FALSE(parse_block_limits({}));
    EXPECT_FALSE(parse_provisioning(hex("00 b0 0004 00 80 02 00")));
    EXPECT_FALSE(parse_provisioning(hex("00 b2 00")));
    EXPECT_EQ(parse_provisioning(hex("00 b2 0004 00 c0 02 00"))->flags5, 0xc0);
}

// ---- MODE SENSE(6)

TEST(CachingMode, is_read_behind_the_block_descriptors) {
    const std::pair<Bytes, CachingMode> cases[] = {
        {hex("17 00 00 00 08 12 04 00"), {false, true}},
        {hex("17 00 80 00 88 12 00 00"), {true, false}},
        {hex("1f 00 90 08 0000000000000200 08 12 04"), {true, true, true}},
        {hex("17 00 00 00 0a 0a 04"), {false, false}}, // the control mode page
        {hex("17 00 00 ff 08 12 04"), {false, false}}, // it would be further behind
        {hex("17 00 00 00 08 12"), {false, false}},    // cut short
        {hex("17 00 80"), {true, false}},
        {{}, {false, false}},
    };
    for (const auto& [data, expected] : cases) {
        EXPECT_EQ(parse_caching_mode(data), expected) << data.size();
    }
}

// ---- what follows from all of them

class UnitLimits : public testing::Test {
protected:
    UnitLimits() {
        pages.capacity = {std::uint64_t{1} << 30, 4096, true};
        pages.provisioning = Provisioning{};
        pages.block_limits = BlockLimits{};
        trims_by(provisioning_flag::kUnmap | provisioning_flag::kWriteSame16);
        pages.block_limits->max_unmap_blocks = 1024;
        pages.block_limits->max_unmap_descriptors = 1;
        pages.block_limits->max_write_same = 256;
    }

    void trims_by(std::uint8_t flags) { pages.provisioning->flags5 = flags; }
    [[nodiscard]] ScsiFeatures features() const { return features_of(pages); }
    [[nodiscard]] DeviceLimits limits() const { return limits_of(pages); }

    UnitPages pages;
};

TEST_F(UnitLimits, have_the_size_and_what_the_pages_say) {
    pages.block_limits->max_transfer = 512;
    pages.caching = {.write_protected = true, .write_cache = true};
    const DeviceLimits all = limits();
    EXPECT_EQ(all.size, std::uint64_t{1} << 30);
    EXPECT_EQ(all.block_size, 4096U);
    EXPECT_EQ(all.max_transfer, 2U << 20);
    EXPECT_TRUE(all.can_flush);
    EXPECT_TRUE(all.read_only);
    EXPECT_TRUE(all.can_write_zeroes);
    EXPECT_EQ(all.max_write_zeroes, 1U << 20);
}

TEST_F(UnitLimits, a_trim_is_an_unmap_where_that_can_be) {
    EXPECT_EQ(features(), (ScsiFeatures{.unmap = true, .write_same_unmap = true}));
    EXPECT_TRUE(limits().can_trim);
    EXPECT_EQ(limits().max_trim, 4U << 20);
}

TEST_F(UnitLimits, a_trim_is_a_write_same_where_nothing_can_be_unmapped) {
    pages.block_limits->max_unmap_descriptors = 0;
    EXPECT_EQ(features(), (ScsiFeatures{.unmap = false, .write_same_unmap = true}));
    EXPECT_TRUE(limits().can_trim);
    EXPECT_EQ(limits().max_trim, 1U << 20);
    trims_by(provisioning_flag::kUnmap);
    EXPECT_FALSE(limits().can_trim);
}

TEST_F(UnitLimits, nothing_trims_unless_every_page_allows_it) {
    trims_by(0);
    EXPECT_FALSE(limits().can_trim);
    trims_by(provisioning_flag::kUnmap);
    pages.capacity.thin = false;
    EXPECT_FALSE(limits().can_trim);
    pages.capacity.thin = true;
    pages.block_limits.reset();
    EXPECT_FALSE(limits().can_trim);
    pages.provisioning.reset();
    EXPECT_EQ(features(), ScsiFeatures{});
}

/// Linux's target refuses the bit where it has no cache to write through.
TEST_F(UnitLimits, unit_access_is_forced_where_that_is_known_or_there_is_a_cache) {
    EXPECT_FALSE(features().force_unit_access);
    pages.caching.force_unit_access = true;
    EXPECT_TRUE(features().force_unit_access);
    pages.caching = {.write_cache = true};
    EXPECT_TRUE(features().force_unit_access);
}

TEST_F(UnitLimits, are_none_where_the_unit_says_so) {
    pages.block_limits->max_unmap_blocks = 0xffffffff;
    pages.block_limits->max_write_same = 0;
    EXPECT_EQ(limits().max_trim, 0U);
    EXPECT_EQ(limits().max_transfer, 0U);
    EXPECT_EQ(limits().max_write_zeroes, 0U);
}

TEST_F(UnitLimits, that_can_not_be_counted_are_the_most_that_can_in_whole_blocks) {
    pages.block_limits->max_transfer = 0xffffffff;
    pages.block_limits->max_write_same = ~std::uint64_t{0};
    EXPECT_EQ(limits().max_transfer, 0xfffff000U);
    EXPECT_EQ(limits().max_write_zeroes % 4096, 0U);
    EXPECT_GT(limits().max_write_zeroes, limits().size);
}

TEST_F(UnitLimits, of_a_page_as_it_came) {
    pages.block_limits->header.page = vpd_page::kBlockLimits;
    pages.block_limits->header.length = static_cast<std::uint16_t>(sizeof(BlockLimits) - sizeof(VpdHeader));
    pages.block_limits = parse_block_limits(bytes_of_object(*pages.block_limits));
    EXPECT_EQ(limits().max_trim, 4U << 20);
}

} // namespace
} // namespace mpath::iscsi::test
