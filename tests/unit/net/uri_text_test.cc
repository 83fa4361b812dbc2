// SPDX-License-Identifier: GPL-2.0-only
#include "net/uri_text.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::net {
namespace {

struct BadHost {
    std::string text;
    std::string sentence; ///< behind the quoted text
};

TEST(ParseHostPort, reads_names_and_addresses_with_or_without_a_port) {
    struct Row {
        const char* text;
        HostPort expected;
    };
    const Row rows[] = {
        {"array-1.example.org", {"array-1.example.org", 0}},
        {"array-1:8009", {"array-1", 8009}},
        {"192.0.2.7", {"192.0.2.7", 0}},
        {"192.0.2.7:4420", {"192.0.2.7", 4420}},
        {"2001:db8::7", {"2001:db8::7", 0}},
        {"[2001:db8::7]", {"2001:db8::7", 0}},
        {"[2001:db8::7]:8009", {"2001:db8::7", 8009}},
        {"fe80::1%eth0", {"fe80::1%eth0", 0}},
        {"[fe80::1%25eth0]:8009", {"fe80::1%eth0", 8009}},
    };
    for (const Row& row : rows) {
        const auto parsed = parse_host_port(row.text, 4420);
        ASSERT_TRUE(parsed) << parsed.error().text;
        EXPECT_EQ(*parsed, row.expected) << row.text;
    }
}

TEST(ParseHostPort, refuses_anything_else_and_points_at_it) {
    const BadHost rows[] = {
        {"", "character 1: the host is missing"},
        {":8009", "character 1: the host is missing"},
        {"h:", "character 3: port '' is not a number from 1 to 65535"},
        {"h:0", "character 3: port '0' is not a number from 1 to 65535"},
        {"nvme+tcp://h/nqn.x/1", "character 10: '/' has no place in HOST[:PORT]"},
        {"h h", "character 2: ' ' has no place in HOST[:PORT]"},
        {"[::1", "character 1: ']' is missing behind the IPv6 address"},
    };
    for (const BadHost& bad : rows) {
        const auto parsed = parse_host_port(bad.text, 4420);
        ASSERT_FALSE(parsed) << bad.text;
        EXPECT_EQ(parsed.error().text, "'" + bad.text + "', " + bad.sentence);
    }
}

} // namespace
} // namespace mpath::net
