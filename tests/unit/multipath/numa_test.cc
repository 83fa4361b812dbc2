// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/numa.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

struct Step {
    std::string states;
    std::string choices;
};

struct Case {
    std::string name;
    std::vector<std::uint32_t> distances; ///< empty: no path's node is known
    std::vector<Step> steps;
};

class NumaRule : public testing::TestWithParam<Case> {};

TEST_P(NumaRule, holds) {
    const Case& rule = GetParam();
    FakePaths paths(rule.steps.front().states);
    paths.set_distances(rule.distances);
    Numa policy;
    for (const Step& step : rule.steps) {
        paths.become(step.states);
        EXPECT_EQ(choices(policy, paths.view(), step.choices.size()), step.choices) << "in " << step.states;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, NumaRule,
    testing::Values(
        Case{"sends_everything_to_the_first_optimized_path_when_no_node_is_known", {}, {{"NOO", "BBB"}}},
        Case{"prefers_the_nearest_optimized_path", {21, 10, 12}, {{"OOO", "BBB"}}},
        Case{"gives_a_tie_to_the_first_in_the_list", {21, 12, 12}, {{"OOO", "BBB"}}},
        Case{"prefers_a_far_optimized_path_to_a_near_non_optimized_one", {10, 31}, {{"NO", "BBB"}}},
        Case{"falls_back_to_the_nearest_non_optimized_path", {21, 31, 12}, {{"NIN", "CCC"}}},
        Case{"keeps_its_path_when_a_nearer_one_becomes_optimized", {10, 21}, {{"NO", "BB"}, {"OO", "BB"}}},
        Case{"searches_for_every_io_while_on_a_non_optimized_path", {}, {{"IN", "BB"}, {"NN", "AA"}}},
        Case{"moves_to_a_path_that_becomes_optimized", {}, {{"NN", "AA"}, {"NO", "BB"}}},
        Case{"leaves_a_lost_path", {}, {{"OO", "AA"}, {"xO", "BB"}}},
        Case{"leaves_a_path_that_is_optimized_no_more", {}, {{"OO", "AA"}, {"NO", "BB"}}},
        Case{"has_no_path_when_none_is_usable", {}, {{"ICLx", "--"}}}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(Numa, searches_anew_after_a_change) {
    FakePaths paths("NO");
    Numa policy;
    EXPECT_EQ(choices(policy, paths.view(), 1), "B");
    paths.become("OO");
    policy.path_changed();
    EXPECT_EQ(choices(policy, paths.view(), 1), "A");
}

TEST(Numa, forgets_its_path_only_when_that_one_failed) {
    FakePaths paths("NO");
    Numa policy;
    EXPECT_EQ(choices(policy, paths.view(), 1), "B");
    paths.become("OO");
    policy.path_failed(0);
    EXPECT_EQ(choices(policy, paths.view(), 1), "B");
    policy.path_failed(1);
    EXPECT_EQ(choices(policy, paths.view(), 1), "A");
}

} // namespace
} // namespace mpath::multipath::test
