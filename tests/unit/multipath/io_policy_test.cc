// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/io_policy.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mpath::multipath {
namespace {

const std::vector<std::string> kThreePaths{"a", "b", "c"};

struct NamedPolicy {
    std::string name;
    std::string semantics;
};

class MadePolicy : public testing::TestWithParam<NamedPolicy> {};

TEST_P(MadePolicy, says_its_name_and_whose_rule_it_is) {
    const auto policy = make_io_policy(GetParam().name, kThreePaths);
    ASSERT_TRUE(policy) << policy.error().text;
    EXPECT_EQ((*policy)->name(), GetParam().name);
    EXPECT_EQ((*policy)->semantics(), GetParam().semantics);
}

INSTANTIATE_TEST_SUITE_P(All, MadePolicy,
                         testing::Values(NamedPolicy{"round-robin", "linux-6.11 round-robin, per job"},
                                         NamedPolicy{"queue-depth", "linux-6.11 queue-depth, per job"},
                                         NamedPolicy{"numa", "linux-6.11 numa, per job"},
                                         NamedPolicy{"service-time", "linux-dm service-time 0.3.0, per job"},
                                         NamedPolicy{"latency", "linux-nvme RFC latency (2025), per job"},
                                         NamedPolicy{"preferred:b", "fio-mpath preferred, per job"}));

struct RefusedPolicy {
    std::string text;
    std::string sentence;
};

class MadeNoPolicy : public testing::TestWithParam<RefusedPolicy> {};

TEST_P(MadeNoPolicy, says_what_there_is) {
    const auto policy = make_io_policy(GetParam().text, kThreePaths);
    ASSERT_FALSE(policy);
    EXPECT_EQ(policy.error().code, EINVAL);
    EXPECT_EQ(policy.error().text, GetParam().sentence);
}

constexpr const char* kKnown = "round-robin, queue-depth, numa, service-time, latency, preferred:NAME";

INSTANTIATE_TEST_SUITE_P(
    All, MadeNoPolicy,
    testing::Values(
        RefusedPolicy{"fastest", std::string("iopolicy=fastest is not a policy; known are ") + kKnown},
        RefusedPolicy{"preferred", std::string("iopolicy=preferred is not a policy; known are ") + kKnown},
        RefusedPolicy{"preferred:d", "iopolicy=preferred:d names none of the job's paths, which are a, b, c"},
        RefusedPolicy{"preferred:", "iopolicy=preferred: names none of the job's paths, which are a, b, c"}));

} // namespace
} // namespace mpath::multipath
