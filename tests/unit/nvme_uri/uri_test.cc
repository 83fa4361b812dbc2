// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/uri.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::nvme {

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
             "nvme+tcp://192.0.2.7:8009/nqn.2014-08.org.example:a/1",
             {"192.0.2.7", 8009, "nqn.2014-08.org.example:a", 1}},
        Good{"with_the_default_port",
             "nvme+tcp://192.0.2.7/nqn.2014-08.org.example:a/1",
             {"192.0.2.7", 4420, "nqn.2014-08.org.example:a", 1}},
        Good{"of_a_host_name",
             "nvme+tcp://array-1.example.org/nqn.x/32",
             {"array-1.example.org", 4420, "nqn.x", 32}},
        Good{
            "of_an_ipv6_address", "nvme+tcp://[2001:db8::7]:4421/nqn.x/1", {"2001:db8::7", 4421, "nqn.x", 1}},
        Good{"of_an_ipv6_address_with_the_default_port",
             "nvme+tcp://[::1]/nqn.x/1",
             {"::1", 4420, "nqn.x", 1}},
        Good{"of_an_ipv6_address_with_a_zone",
             "nvme+tcp://[fe80::1%25eth0]/nqn.x/1",
             {"fe80::1%eth0", 4420, "nqn.x", 1}},
        Good{"of_an_ipv6_address_with_a_zone_as_people_write_it",
             "nvme+tcp://[fe80::1%eth0]:4421/nqn.x/1",
             {"fe80::1%eth0", 4421, "nqn.x", 1}},
        Good{"of_an_ipv6_address_with_an_encoded_zone",
             "nvme+tcp://[fe80::1%25eth0%2e7]/nqn.x/1",
             {"fe80::1%eth0.7", 4420, "nqn.x", 1}},
        Good{"of_an_ipv6_address_with_the_index_of_an_interface",
             "nvme+tcp://[fe80::1%25]/nqn.x/1",
             {"fe80::1%25", 4420, "nqn.x", 1}},
        Good{"with_comma_and_slash_in_the_nqn",
             "nvme+tcp://h/nqn.x:a%2Cb%2fc/1",
             {"h", 4420, "nqn.x:a,b/c", 1}},
        Good{"with_the_largest_nsid", "nvme+tcp://h/nqn.x/4294967294", {"h", 4420, "nqn.x", 0xfffffffe}},
        Good{"with_its_scheme_in_capitals", "NVMe+TCP://h/nqn.x/1", {"h", 4420, "nqn.x", 1}},
        Good{"with_utf8_in_the_nqn", "nvme+tcp://h/nqn.x:\xc3\xa9/1", {"h", 4420, "nqn.x:\xc3\xa9", 1}}),
    [](const auto& param_info) { return param_info.param.name; });

struct BadUri {
    std::string text;
    std::string sentence; ///< behind the quoted text
};

TEST(ParseUriRefuses, and_points_at_the_character) {
    const BadUri cases[] = {
        {"", "character 1: a path begins with 'nvme+tcp://'"},
        {"nvme+rdma://h/nqn.x/1", "character 1: a path begins with 'nvme+tcp://'"},
        {"nvme+tcp://", "character 12: '/subnqn/nsid' is missing behind the address"},
        {"nvme+tcp://h:4420", "character 18: '/subnqn/nsid' is missing behind the address"},
        {"nvme+tcp://h/nqn.x", "character 19: '/nsid' is missing behind the subsystem's NQN"},
        {"nvme+tcp:///nqn.x/1", "character 12: the host is missing"},
        {"nvme+tcp://:4420/nqn.x/1", "character 12: the host is missing"},
        {"nvme+tcp://me@h/nqn.x/1", "character 14: NVMe/TCP addresses have no user name"},
        {"nvme+tcp://::1/nqn.x/1", "character 12: the host is missing"},
        {"nvme+tcp://2001:db8::1/nqn.x/1",
         "character 12: an IPv6 address stands in brackets, as in [::1]:4420"},
        {"nvme+tcp://[::1/nqn.x/1", "character 12: ']' is missing behind the IPv6 address"},
        {"nvme+tcp://[h]/nqn.x/1", "character 13: 'h' is no IPv6 address"},
        {"nvme+tcp://[fe80::1%]/nqn.x/1",
         "character 21: the zone is missing behind '%', as in [fe80::1%25eth0]"},
        {"nvme+tcp://[fe80%25eth0::1]/nqn.x/1", "character 13: 'fe80' is no IPv6 address"},
        {"nvme+tcp://[::1]4420/nqn.x/1", "character 17: only ':port' may follow the address"},
        {"nvme+tcp://h:/nqn.x/1", "character 14: port '' is not a number from 1 to 65535"},
        {"nvme+tcp://h:0/nqn.x/1", "character 14: port '0' is not a number from 1 to 65535"},
        {"nvme+tcp://h:65536/nqn.x/1", "character 14: port '65536' is not a number from 1 to 65535"},
        {"nvme+tcp://h:44x/nqn.x/1", "character 14: port '44x' is not a number from 1 to 65535"},
        {"nvme+tcp://h//1", "character 14: NQN is empty"},
        {"nvme+tcp://h/iqn.x/1", "character 14: NQN 'iqn.x' does not begin with 'nqn.' and a name"},
        {"nvme+tcp://h/nqn.x%2/1",
         "character 19: '%' must be followed by two hexadecimal digits; '%' itself is "
         "written %25"},
        {"nvme+tcp://h/nqn.x%00/1", "character 19: a zero byte can't be part of a name"},
        {"nvme+tcp://h/nqn.x/", "character 20: NSID '' is not a number from 1 to 4294967294"},
        {"nvme+tcp://h/nqn.x/0", "character 20: NSID '0' is not a number from 1 to 4294967294"},
        {"nvme+tcp://h/nqn.x/4294967295",
         "character 20: NSID '4294967295' is not a number from 1 to 4294967294"},
        {"nvme+tcp://h/nqn.x/-1", "character 20: NSID '-1' is not a number from 1 to 4294967294"},
        {"nvme+tcp://h/nqn.x/y/1",
         "character 21: nothing follows the NSID; a '/' inside the NQN is written %2F"},
        {"nvme+tcp://h/nqn.x/1?a=b",
         "character 21: '?' has no place in a path; write it as %3F if it belongs to a name"},
    };
    for (const BadUri& bad : cases) {
        const auto uri = parse_uri(bad.text);
        ASSERT_FALSE(uri) << bad.text;
        EXPECT_EQ(uri.error().code, EINVAL);
        EXPECT_EQ(uri.error().text, "'" + bad.text + "', " + bad.sentence);
    }
}

TEST(UriText, names_the_port_and_encodes_what_would_split_it) {
    const Uri uri{"h", 4420, "nqn.x:a,b/c d", 7};
    EXPECT_EQ(uri.text(), "nvme+tcp://h:4420/nqn.x:a%2Cb%2Fc%20d/7");
}

TEST(UriAddress, puts_an_ipv6_address_in_brackets) {
    EXPECT_EQ((Uri{"::1", 4420, "nqn.x", 1}).address(), "[::1]:4420");
    EXPECT_EQ((Uri{"192.0.2.7", 8009, "nqn.x", 1}).address(), "192.0.2.7:8009");
}

TEST(UriText, encodes_the_percent_sign_before_a_zone) {
    EXPECT_EQ((Uri{"fe80::1%eth0", 4420, "nqn.x", 1}).text(), "nvme+tcp://[fe80::1%25eth0]:4420/nqn.x/1");
    EXPECT_EQ((Uri{"fe80::1%eth0", 4420, "nqn.x", 1}).address(), "[fe80::1%eth0]:4420");
}

} // namespace
} // namespace mpath::nvme
