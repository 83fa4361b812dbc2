// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/nqn.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::nvme {
namespace {

TEST(CheckNqn, takes_a_name_of_up_to_223_bytes) {
    EXPECT_TRUE(check_nqn("nqn.2014-08.org.nvmexpress:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"));
    EXPECT_TRUE(check_nqn("nqn." + std::string(219, 'a')));
}

TEST(CheckNqn, says_what_is_wrong) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "NQN is empty"},
        {"nqn.", "NQN 'nqn.' does not begin with 'nqn.' and a name"},
        {"NQN.a", "NQN 'NQN.a' does not begin with 'nqn.' and a name"},
        {"nqn.a b", "NQN contains byte 0x20 at position 6, neither space nor control characters are allowed"},
        {"nqn.a\n", "NQN contains byte 0x0a at position 6, neither space nor control characters are allowed"},
        {"nqn." + std::string(220, 'a'), "NQN is 224 bytes long, at most 223 are allowed"},
    };
    for (const auto& [nqn, sentence] : cases) {
        const auto result = check_nqn(nqn);
        ASSERT_FALSE(result) << nqn;
        EXPECT_EQ(result.error().code, EINVAL);
        EXPECT_EQ(result.error().text, sentence);
    }
}

} // namespace
} // namespace mpath::nvme
