// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/text.h"

#include <gtest/gtest.h>

#include "target/iscsi/node.h"

namespace mpath::target::scsi {
namespace {

using namespace std::string_view_literals;

TEST(TargetIscsiText, IsTakenApartInItsOrder) {
    const auto keys = parse_text("B=1\0A=x=y\0C=\0\0\0"sv);
    ASSERT_TRUE(keys);
    EXPECT_EQ(*keys, (KeyValues{{"B", "1"}, {"A", "x=y"}, {"C", ""}}));
}

TEST(TargetIscsiText, HasToBeKeysAndValues) {
    EXPECT_FALSE(parse_text("no equals sign\0"sv));
    EXPECT_FALSE(parse_text("=value\0"sv));
    EXPECT_FALSE(parse_text(std::string(64, 'k') + "=1"));
    std::string many;
    for (int i = 0; i < 300; ++i) {
        append_key(many, "X-a", "1");
    }
    EXPECT_FALSE(parse_text(many));
}

TEST(TargetIscsiText, HasNumbersOfTwoKinds) {
    EXPECT_EQ(parse_number("65536"), 65536U);
    EXPECT_EQ(parse_number("0x1F"), 31U);
    for (const char* wrong : {"", "0x", "-1", "12k", " 1"}) {
        EXPECT_FALSE(parse_number(wrong)) << wrong;
    }
}

TEST(TargetIscsiText, HasBinaryValuesOfTwoKinds) {
    EXPECT_EQ(parse_binary("0x616263"), "abc");
    EXPECT_EQ(parse_binary("0xf6A"), "\x0fj") << "half a byte in front";
    EXPECT_EQ(parse_binary("0bYWJj"), "abc");
    EXPECT_EQ(parse_binary("0bYWI="), "ab");
    for (const char* wrong : {"", "616263", "0x", "0xgg", "0b", "0b!"}) {
        EXPECT_FALSE(parse_binary(wrong)) << wrong;
    }
}

TEST(TargetIscsiLun, IsTheNumberOfANamespace) {
    EXPECT_EQ(nsid_of({0, 0}), 1U);
    EXPECT_EQ(nsid_of({0, 255}), 256U);
    EXPECT_EQ(nsid_of({0x41, 0x02}), 0x103U) << "flat addressing";
    EXPECT_EQ(nsid_of({0x40, 0x00}), 1U) << "which small numbers may have as well";
    for (const std::uint32_t nsid : {1U, 2U, 256U, 257U, 1024U}) {
        EXPECT_EQ(nsid_of(lun_of(nsid)), nsid);
    }
    for (const iscsi::Lun& none : {iscsi::Lun{0x01, 0}, iscsi::Lun{0xc1, 0x01}, iscsi::Lun{0, 0, 1}}) {
        EXPECT_EQ(nsid_of(none), 0U);
    }
}

} // namespace
} // namespace mpath::target::scsi
