// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/numa.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

struct NumaCase {
    std::string name;
    std::vector<std::uint32_t> distances; ///< empty: no path's node is known
    std::vector<PolicyStep> steps;
};

class NumaRule : public testing::TestWithParam<NumaCase> {};

TEST_P(NumaRule, holds) {
    const NumaCase& rule = GetParam();
    FakePaths paths(rule.steps.front().states);
    paths.set_distances(rule.distances);
    Numa policy;
    expect_choices(policy, paths, rule.steps);
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, NumaRule,
    testing::Values(
        NumaCase{"sends_everything_to_the_first_optimized_path_when_no_node_is_known", {}, {{"NOO", "BBB"}}},
        NumaCase{"prefers_the_nearest_optimized_path", {21, 10, 12}, {{"OOO", "BBB"}}},
        NumaCase{"gives_a_tie_to_the_first_in_the_list", {21, 12, 12}, {{"OOO", "BBB"}}},
        NumaCase{"prefers_a_far_optimized_path_to_a_near_non_optimized_one", {10, 31}, {{"NO", "BBB"}}},
        NumaCase{"falls_back_to_the_nearest_non_optimized_path", {21, 31, 12}, {{"NIN", "CCC"}}},
        NumaCase{
            "keeps_its_path_when_a_nearer_one_becomes_optimized", {10, 21}, {{"NO", "BB"}, {"OO", "BB"}}},
        NumaCase{"searches_for_every_io_while_on_a_non_optimized_path", {}, {{"IN", "BB"}, {"NN", "AA"}}},
        NumaCase{"moves_to_a_path_that_becomes_optimized", {}, {{"NN", "AA"}, {"NO", "BB"}}},
        NumaCase{"leaves_a_lost_path", {}, {{"OO", "AA"}, {"xO", "BB"}}},
        NumaCase{"leaves_a_path_that_is_optimized_no_more", {}, {{"OO", "AA"}, {"NO", "BB"}}},
        NumaCase{"has_no_path_when_none_is_usable", {}, {{"ICLx", "--"}}}),
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
