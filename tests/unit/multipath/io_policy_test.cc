// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/io_policy.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::multipath {
namespace {

TEST(MakeIoPolicy, makes_every_policy_it_names) {
    for (const std::string_view name : io_policy_names()) {
        const auto policy = make_io_policy(name);
        ASSERT_TRUE(policy) << policy.error().text;
        EXPECT_EQ((*policy)->name(), name);
        EXPECT_EQ((*policy)->semantics(), "linux-6.11 " + std::string(name) + ", per job");
    }
}

TEST(MakeIoPolicy, refuses_an_unknown_name_and_lists_the_known_ones) {
    const auto policy = make_io_policy("fastest");
    ASSERT_FALSE(policy);
    EXPECT_EQ(policy.error().code, EINVAL);
    EXPECT_EQ(policy.error().text,
              "iopolicy=fastest is not a policy; known are round-robin, queue-depth, numa");
}

} // namespace
} // namespace mpath::multipath
