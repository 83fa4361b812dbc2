// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/lun_list.h"

#include <gtest/gtest.h>

#include "tests/unit/iscsi_scsi/hex_bytes.h"

namespace mpath::iscsi::test {
namespace {

using Luns = std::vector<std::uint64_t>;

TEST(LunList, has_peripheral_and_flat_addresses_each_once_ascending) {
    EXPECT_EQ(parse_lun_list(hex("00000028 00000000"
                                 "4100000000000000" // flat: 256
                                 "00ff000000000000" // peripheral: 255
                                 "0000000000000000" //
                                 "40ff000000000000" // 255 again
                                 "7fff000000000000"))
                  .value(),
              (Luns{0, 255, 256, 16383}));
}

TEST(LunList, passes_over_what_no_uri_can_name) {
    EXPECT_EQ(parse_lun_list(hex("00000028 00000000"
                                 "0101000000000000" // on another bus
                                 "0001000200000000" // behind a second level
                                 "c101000000000000" // REPORT LUNS well known logical unit
                                 "8001000000000000" // logical unit addressing
                                 "0007000000000000"))
                  .value(),
              Luns{7});
}

TEST(LunList, ends_where_it_says_or_where_it_was_cut) {
    EXPECT_EQ(parse_lun_list(hex("00000008 00000000 0001000000000000 0002000000000000")).value(), Luns{1});
    EXPECT_EQ(parse_lun_list(hex("fffffff8 00000000 0001000000000000 00020000")).value(), Luns{1});
    EXPECT_EQ(parse_lun_list(hex("00000000 00000000")).value(), Luns{});
}

TEST(LunList, refuses_what_is_no_list) {
    const auto luns = parse_lun_list(hex("00000008 000000"));
    ASSERT_FALSE(luns);
    EXPECT_EQ(luns.error().code, EPROTO);
    EXPECT_EQ(luns.error().text, "REPORT LUNS brought no list");
}

} // namespace
} // namespace mpath::iscsi::test
