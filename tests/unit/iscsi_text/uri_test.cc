// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/uri.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {

void PrintTo(const Uri& uri, std::ostream* out) {
    *out << uri.text();
}

namespace {

struct Good {
    std::string name;
    std::string text;
    Uri uri;
};

class ParseUri : public testing::TestWithParam<Good> {};

TEST_P(ParseUri, reads_every_part) {
    const auto uri = parse_uri(GetParam().text);
    ASSERT_TRUE(uri) << uri.error().text;
    EXPECT_EQ(*uri, GetParam().uri);
}

TEST_P(ParseUri, gives_the_same_from_its_own_text) {
    const auto uri = parse_uri(GetParam().text);
    ASSERT_TRUE(uri) << uri.error().text;
    EXPECT_EQ(parse_uri(uri->text()).value(), *uri) << uri->text();
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ParseUri,
    testing::Values(
        Good{"with_a_port",
             "iscsi://192.0.2.7:3261/iqn.2003-01.org.example:a/1",
             {"", "192.0.2.7", 3261, "iqn.2003-01.org.example:a", 1}},
        Good{"with_the_default_port", "iscsi://192.0.2.7/iqn.x/0", {"", "192.0.2.7", 3260, "iqn.x", 0}},
        Good{"of_a_host_name",
             "iscsi://array-1.example.org/iqn.x/32",
             {"", "array-1.example.org", 3260, "iqn.x", 32}},
        Good{"with_a_user", "iscsi://me@h:3261/iqn.x/1", {"me", "h", 3261, "iqn.x", 1}},
        Good{"with_an_iscsi_name_as_user",
             "iscsi://iqn.y:me@[::1]/iqn.x/1",
             {"iqn.y:me", "::1", 3260, "iqn.x", 1}},
        Good{"of_an_ipv6_address",
             "iscsi://[2001:db8::7]:3261/iqn.x/1",
             {"", "2001:db8::7", 3261, "iqn.x", 1}},
        Good{"of_an_ipv6_address_with_a_zone",
             "iscsi://[fe80::1%25eth0]/iqn.x/1",
             {"", "fe80::1%eth0", 3260, "iqn.x", 1}},
        Good{
            "of_an_eui_name", "iscsi://h/eui.02004567A425678D/1", {"", "h", 3260, "eui.02004567A425678D", 1}},
        Good{"with_an_encoded_name", "iscsi://h/iqn.x%3aa/1", {"", "h", 3260, "iqn.x:a", 1}},
        Good{"with_the_largest_lun", "iscsi://h/iqn.x/16383", {"", "h", 3260, "iqn.x", 16383}},
        Good{"with_its_scheme_in_capitals", "iSCSI://h/iqn.x/1", {"", "h", 3260, "iqn.x", 1}}),
    [](const auto& param_info) { return param_info.param.name; });

struct BadUri {
    std::string text;
    std::string sentence; ///< behind the quoted text
};

TEST(ParseUriRefuses, and_points_at_the_character) {
    const BadUri cases[] = {
        {"", "character 1: a path begins with 'iscsi://'"},
        {"iscsi://h", "character 10: '/target-name/lun' is missing behind the address"},
        {"iscsi://h/iqn.x", "character 16: '/lun' is missing behind the target's name"},
        {"iscsi:///iqn.x/1", "character 9: the host is missing"},
        {"iscsi://@h/iqn.x/1", "character 9: the user's name is missing before '@'"},
        {"iscsi://me@/iqn.x/1", "character 12: the host is missing"},
        {"iscsi://::1/iqn.x/1", "character 9: the host is missing"},
        {"iscsi://2001:db8::1/iqn.x/1", "character 9: an IPv6 address stands in brackets, as in [::1]:3260"},
        {"iscsi://h:0/iqn.x/1", "character 11: port '0' is not a number from 1 to 65535"},
        {"iscsi://h//1", "character 11: iSCSI name is empty"},
        {"iscsi://h/nqn.x/1", "character 11: iSCSI name 'nqn.x' is neither 'iqn.' and a name, nor 'eui.' and "
                              "16 hexadecimal digits, "
                              "nor 'naa.' and 16 or 32 of them"},
        {"iscsi://h/iqn.x%2/1",
         "character 16: '%' must be followed by two hexadecimal digits; '%' itself is written %25"},
        {"iscsi://h/iqn.x/", "character 17: LUN '' is not a number from 0 to 16383"},
        {"iscsi://h/iqn.x/16384", "character 17: LUN '16384' is not a number from 0 to 16383"},
        {"iscsi://h/iqn.x/1/2", "character 18: nothing follows the LUN"},
        {"iscsi://h/iqn.x/1?a=b",
         "character 18: '?' has no place in a path; write it as %3F if it belongs to a name"},
    };
    for (const BadUri& bad : cases) {
        const auto uri = parse_uri(bad.text);
        ASSERT_FALSE(uri) << bad.text;
        EXPECT_EQ(uri.error().code, EINVAL);
        EXPECT_EQ(uri.error().text, "'" + bad.text + "', " + bad.sentence);
    }
}

TEST(ParseUriRefuses, a_password_without_repeating_it) {
    for (const char* text : {"iscsi://me%geheim@h/iqn.x/1", "iscsi://me%ge?heim@h", "iscsi://%geheim@",
                             "iscsi://me%ge/heim@h"}) {
        const auto uri = parse_uri(text);
        ASSERT_FALSE(uri) << text;
        EXPECT_EQ(uri.error().text.find("heim"), std::string::npos) << uri.error().text;
        EXPECT_NE(uri.error().text.find("a password has no place in a path"), std::string::npos);
    }
}

TEST(UriText, names_the_user_and_the_port) {
    EXPECT_EQ((Uri{"me", "::1", 3260, "iqn.x:a", 7}).text(), "iscsi://me@[::1]:3260/iqn.x:a/7");
    EXPECT_EQ((Uri{"", "h", 3261, "iqn.x:a", 0}).text(), "iscsi://h:3261/iqn.x:a/0");
}

TEST(UriAddress, puts_an_ipv6_address_in_brackets) {
    EXPECT_EQ((Uri{"me", "::1", 3260, "iqn.x", 1}).address(), "[::1]:3260");
    EXPECT_EQ((Uri{"", "192.0.2.7", 3261, "iqn.x", 1}).address(), "192.0.2.7:3261");
}

TEST(LunToWire, addresses_a_peripheral_up_to_255_and_flat_space_above) {
    EXPECT_EQ(to_wire(0), (Lun{}));
    EXPECT_EQ(to_wire(255), (Lun{0x00, 0xff}));
    EXPECT_EQ(to_wire(256), (Lun{0x41, 0x00}));
    EXPECT_EQ(to_wire(kMaxLun), (Lun{0x7f, 0xff}));
}

} // namespace
} // namespace mpath::iscsi
