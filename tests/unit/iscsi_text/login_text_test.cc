// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login_text.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {
namespace {

using namespace std::string_literals;

TEST(ParsePairs, reads_what_append_pair_writes) {
    std::string text;
    append_pair(text, "HeaderDigest", "None");
    append_pair(text, "TargetAlias", "");
    append_pair(text, "X-org.example.a", "b=c");
    EXPECT_EQ(text, "HeaderDigest=None\0TargetAlias=\0X-org.example.a=b=c\0"s);
    const std::vector<KeyValue> expected = {
        {"HeaderDigest", "None"}, {"TargetAlias", ""}, {"X-org.example.a", "b=c"}};
    EXPECT_EQ(parse_pairs(text, 3).value(), expected);
}

TEST(ParsePairs, bears_padding_and_a_missing_end) {
    const std::vector<KeyValue> expected = {{"A", "1"}, {"B", "2"}};
    EXPECT_EQ(parse_pairs("A=1\0\0B=2"s, 2).value(), expected);
    EXPECT_EQ(parse_pairs("A=1\0B=2\0\0\0"s, 2).value(), expected);
    EXPECT_TRUE(parse_pairs("", 0).value().empty());
}

TEST(ParsePairs, refuses_what_is_no_text) {
    const std::pair<std::string, std::string> cases[] = {
        {"=1\0"s, "its text has a key that is none"},
        {"A B=1\0"s, "its text has a key that is none"},
        {std::string(64, 'A') + "=1", "its text has a key that is none"},
        {"A\0"s, "its text has the key A without a value"},
        {"A=\x1b[2J\0"s, "its value of A has control characters"},
        {"A=" + std::string(8193, 'x'), "its value of A has 8193 bytes, at most 8192 are allowed"},
        {"A=1\0B=1\0C=1\0D=1\0"s, "its text has more than 3 keys"},
    };
    for (const auto& [text, sentence] : cases) {
        const auto pairs = parse_pairs(text, 3);
        ASSERT_FALSE(pairs) << sentence;
        EXPECT_EQ(pairs.error().code, EPROTO);
        EXPECT_EQ(pairs.error().text, sentence);
    }
}

TEST(ParseNumber, reads_decimal_and_hexadecimal_up_to_a_limit) {
    EXPECT_EQ(parse_number("0", 10), 0U);
    EXPECT_EQ(parse_number("10", 10), 10U);
    EXPECT_EQ(parse_number("0x1F", 255), 31U);
    for (const char* bad : {"", "11", "-1", "+1", "1 ", "0x", "0xg", "1.5", "99999999999"}) {
        EXPECT_FALSE(parse_number(bad, 10)) << bad;
    }
}

TEST(Quotable, is_short_and_ascii) {
    EXPECT_EQ(quotable("plain"), "plain");
    EXPECT_EQ(quotable("\xc3\xa9"), "??");
    EXPECT_EQ(quotable(std::string(1000, 'x')).size(), 80U);
}

} // namespace
} // namespace mpath::iscsi
