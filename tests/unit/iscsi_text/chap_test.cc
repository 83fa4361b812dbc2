// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/chap.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mpath::iscsi {
namespace {

std::vector<std::byte> bytes_of_text(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

struct Vector {
    ChapAlgorithm algorithm;
    std::string digest; ///< of "abc": RFC 1321, FIPS 180-4 and 202
};

TEST(ChapResponse, is_the_digest_of_identifier_secret_and_challenge) {
    const Vector vectors[] = {
        {ChapAlgorithm::md5, "0x900150983cd24fb0d6963f7d28e17f72"},
        {ChapAlgorithm::sha1, "0xa9993e364706816aba3e25717850c26c9cd0d89d"},
        {ChapAlgorithm::sha256, "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {ChapAlgorithm::sha3_256, "0x3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"},
    };
    for (const Vector& vector : vectors) {
        const auto response = chap_response(vector.algorithm, 'a', "b", bytes_of_text("c"));
        ASSERT_TRUE(response) << response.error().text;
        EXPECT_EQ(binary_text(*response), vector.digest);
        EXPECT_EQ(response->size(), response_size(vector.algorithm));
    }
}

TEST(ChapAlgorithmOf, knows_the_four_numbers_of_iana) {
    EXPECT_EQ(chap_algorithm("5"), ChapAlgorithm::md5);
    EXPECT_EQ(chap_algorithm("6"), ChapAlgorithm::sha1);
    EXPECT_EQ(chap_algorithm("7"), ChapAlgorithm::sha256);
    EXPECT_EQ(chap_algorithm("8"), ChapAlgorithm::sha3_256);
    for (const char* other : {"", "4", "9", "5,6", "x", "261"}) {
        EXPECT_FALSE(chap_algorithm(other)) << other;
    }
}

TEST(ChapChallenge, is_new_each_time_and_as_long_as_a_response) {
    const auto first = chap_challenge(ChapAlgorithm::sha256);
    const auto second = chap_challenge(ChapAlgorithm::sha256);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->size(), 32U);
    EXPECT_NE(*first, *second);
}

TEST(ParseBinary, reads_hexadecimal_and_base64) {
    const std::pair<std::string, std::string> cases[] = {
        {"0x616263", "abc"},      {"0X6A6b6C", "jkl"}, {"0x5", "\x05"}, {"0x105", "\x01\x05"},
        {"0bYWJj", "abc"},        {"0BYWI=", "ab"},    {"0bYQ==", "a"}, // RFC 4648's forms
        {"0bZm9vYmFy", "foobar"},
    };
    for (const auto& [text, expected] : cases) {
        const auto bytes = parse_binary(text);
        ASSERT_TRUE(bytes) << text;
        EXPECT_EQ(*bytes, bytes_of_text(expected)) << text;
    }
}

TEST(ParseBinary, reads_what_binary_text_writes) {
    const std::vector<std::byte> longest(kMaxChapBinary, std::byte{0xa5});
    EXPECT_EQ(parse_binary(binary_text(longest)), longest);
}

TEST(ParseBinary, refuses_what_is_none_or_too_long) {
    for (const std::string& text :
         {std::string(), std::string("0"), std::string("0x"), std::string("0b"), std::string("616263"),
          std::string("0x6g"), std::string("0bYW"), std::string("0bYWJ="), std::string("0bY==="),
          std::string("0bYW=j"), std::string("0bYW-j"), "0x" + std::string(2 * kMaxChapBinary + 1, 'f'),
          "0x" + std::string(1 << 20, 'f')}) {
        EXPECT_FALSE(parse_binary(text)) << text.substr(0, 20);
    }
}

} // namespace
} // namespace mpath::iscsi
