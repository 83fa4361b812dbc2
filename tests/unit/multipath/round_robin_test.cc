// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/round_robin.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

struct RoundRobinCase {
    std::string name;
    std::vector<PolicyStep> steps; ///< one policy lives through all of them, and is told of no change
};

class RoundRobinRule : public testing::TestWithParam<RoundRobinCase> {};

TEST_P(RoundRobinRule, holds) {
    const std::vector<PolicyStep>& steps = GetParam().steps;
    FakePaths paths(steps.front().states);
    RoundRobin policy;
    expect_choices(policy, paths, steps);
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, RoundRobinRule,
    testing::Values(
        RoundRobinCase{"starts_with_the_first_optimized_path", {{"NOO", "B"}}},
        RoundRobinCase{"starts_with_the_first_usable_path_when_none_is_optimized", {{"INN", "B"}}},
        RoundRobinCase{"alternates_between_two_optimized_paths", {{"OO", "ABABAB"}}},
        RoundRobinCase{"goes_forward_through_optimized_paths", {{"OOO", "ABCABC"}}},
        RoundRobinCase{"goes_backward_through_non_optimized_paths", {{"NNN", "ACBACB"}}},
        RoundRobinCase{"alternates_between_two_non_optimized_paths", {{"NN", "ABAB"}}},
        RoundRobinCase{"stays_on_the_only_optimized_path", {{"NON", "BBBB"}}},
        RoundRobinCase{"passes_over_non_optimized_paths_between_optimized_ones", {{"ONNO", "ADAD"}}},
        RoundRobinCase{"passes_over_inaccessible_paths", {{"OIO", "ACAC"}}},
        RoundRobinCase{"passes_over_lost_and_changing_paths", {{"xOLCO", "BEBE"}}},
        RoundRobinCase{"stays_on_the_only_usable_path_though_non_optimized", {{"INI", "BBB"}}},
        RoundRobinCase{"leaves_a_non_optimized_path_for_an_optimized_one", {{"NI", "A"}, {"NO", "BBB"}}},
        RoundRobinCase{"leaves_a_path_that_is_optimized_no_more_for_a_non_optimized_one",
                       {{"ON", "AA"}, {"NN", "BAB"}}},
        RoundRobinCase{"stays_on_an_optimized_path_beside_non_optimized_ones", {{"ONN", "AAA"}}},
        RoundRobinCase{"leaves_a_lost_path", {{"ON", "AA"}, {"xN", "BBB"}}},
        RoundRobinCase{"comes_back_to_a_path_that_is_optimized_again", {{"IN", "BB"}, {"ON", "AAA"}}},
        RoundRobinCase{"has_no_path_when_none_is_usable", {{"IL", "--"}}},
        RoundRobinCase{"goes_on_from_its_pointer_after_a_time_without_paths",
                       {{"OOO", "AB"}, {"xxx", "--"}, {"OOO", "CA"}}},
        RoundRobinCase{"uses_a_single_path_whether_optimized_or_not", {{"O", "AA"}, {"N", "AA"}}},
        RoundRobinCase{"does_not_use_a_single_lost_path", {{"O", "A"}, {"x", "-"}}},
        RoundRobinCase{"does_not_use_a_single_inaccessible_path", {{"O", "A"}, {"I", "-"}}},
        RoundRobinCase{"has_no_path_among_none", {{"", "--"}}}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(RoundRobin, starts_anew_after_a_change) {
    const FakePaths paths("OOO");
    RoundRobin policy;
    EXPECT_EQ(choices(policy, paths.view(), 2), "AB");
    policy.path_changed();
    EXPECT_EQ(choices(policy, paths.view(), 2), "AB");
}

TEST(RoundRobin, starts_anew_when_its_last_choice_failed) {
    const FakePaths paths("OOO");
    RoundRobin policy;
    EXPECT_EQ(choices(policy, paths.view(), 2), "AB");
    policy.path_failed(1);
    EXPECT_EQ(choices(policy, paths.view(), 1), "A");
}

TEST(RoundRobin, goes_on_when_another_path_failed) {
    const FakePaths paths("OOO");
    RoundRobin policy;
    EXPECT_EQ(choices(policy, paths.view(), 2), "AB");
    policy.path_failed(0);
    EXPECT_EQ(choices(policy, paths.view(), 1), "C");
}

TEST(RoundRobin, ignores_distances) {
    FakePaths paths("OO");
    paths.set_distances({30, 10});
    RoundRobin policy;
    EXPECT_EQ(choices(policy, paths.view(), 4), "ABAB");
}

TEST(RoundRobin, keeps_to_the_states_the_job_asked_for) {
    const FakePaths paths("ONON");
    RoundRobin optimized_only;
    EXPECT_EQ(choices(optimized_only, paths.view(StateFilter::optimized), 4), "ACAC");
    RoundRobin non_optimized_only;
    EXPECT_EQ(choices(non_optimized_only, paths.view(StateFilter::non_optimized), 4), "BDBD");
}

TEST(RoundRobin, gives_two_optimized_paths_the_same_number) {
    const FakePaths paths("OO");
    RoundRobin policy;
    const std::string given = choices(policy, paths.view(), 1000);
    EXPECT_EQ(std::count(given.begin(), given.end(), 'A'), 500);
    EXPECT_EQ(std::count(given.begin(), given.end(), 'B'), 500);
}

} // namespace
} // namespace mpath::multipath::test
