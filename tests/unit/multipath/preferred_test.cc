// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/preferred.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

struct PreferredCase {
    std::string name;
    std::vector<PolicyStep> steps; ///< one policy lives through all of them, and is told of no change
};

class PreferredRule : public testing::TestWithParam<PreferredCase> {};

TEST_P(PreferredRule, holds) {
    const std::vector<PolicyStep>& steps = GetParam().steps;
    FakePaths paths(steps.front().states);
    Preferred policy("preferred:b", 1, static_cast<std::uint16_t>(steps.front().states.size()));
    expect_choices(policy, paths, steps);
}

INSTANTIATE_TEST_SUITE_P(
    SecondOfSeveral, PreferredRule,
    testing::Values(PreferredCase{"sends_everything_to_the_named_path", {{"OOO", "BBB"}}},
                    PreferredCase{"keeps_to_it_when_it_is_non_optimized_and_others_are_not", {{"ONO", "BB"}}},
                    PreferredCase{"goes_to_the_next_in_the_list_without_it", {{"OxO", "CC"}}},
                    PreferredCase{"goes_round_the_end_of_the_list", {{"OxI", "AA"}}},
                    PreferredCase{"passes_over_a_non_optimized_path_without_it", {{"OxNO", "DD"}}},
                    PreferredCase{"takes_the_next_non_optimized_path_where_there_is_no_other",
                                  {{"NIIN", "DD"}}},
                    PreferredCase{"comes_back_at_once", {{"OOO", "BB"}, {"OIO", "CC"}, {"OOO", "BB"}}},
                    PreferredCase{"has_no_path_when_none_is_usable", {{"xIL", "--"}}}),
    [](const auto& param_info) { return param_info.param.name; });

// Positions change with the candidates, the path's index does not.
TEST(Preferred, finds_its_path_among_fewer_candidates) {
    const FakePaths paths("OOO");
    const PathView all = paths.view();
    Preferred policy("preferred:b", 1, 3);
    EXPECT_EQ(choices(policy, all, 1), "B");
    policy.path_changed();
    const PathView without_the_first{all.candidates.subspan(1), StateFilter::any};
    EXPECT_EQ(policy.select(without_the_first, Operation::read), 0U);
    policy.path_changed();
    const PathView without_it{all.candidates.subspan(2), StateFilter::any};
    EXPECT_EQ(policy.select(without_it, Operation::read), 0U);
}

TEST(Preferred, keeps_to_its_path_after_a_failure_there) {
    const FakePaths paths("OO");
    Preferred policy("preferred:b", 1, 2);
    policy.path_failed(1);
    EXPECT_EQ(choices(policy, paths.view(), 1), "B");
}

} // namespace
} // namespace mpath::multipath::test
