// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/queue_depth.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

struct QueueDepthCase {
    std::string name;
    std::string states;
    std::vector<std::uint32_t> depths;
    std::string choice;
};

class QueueDepthRule : public testing::TestWithParam<QueueDepthCase> {};

TEST_P(QueueDepthRule, holds) {
    FakePaths paths(GetParam().states);
    paths.set_depths(GetParam().depths);
    QueueDepth policy;
    EXPECT_EQ(choices(policy, paths.view(), 1), GetParam().choice);
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, QueueDepthRule,
    testing::Values(
        QueueDepthCase{"takes_the_least_loaded_optimized_path", "OOO", {5, 3, 4}, "B"},
        QueueDepthCase{"gives_a_tie_to_the_first_in_the_list", "OOO", {5, 3, 3}, "B"},
        QueueDepthCase{"takes_the_first_idle_optimized_path", "OOO", {1, 0, 0}, "B"},
        QueueDepthCase{
            "prefers_a_loaded_optimized_path_to_an_idle_non_optimized_one", "NON", {0, 99, 0}, "B"},
        QueueDepthCase{
            "takes_the_least_loaded_non_optimized_path_when_none_is_optimized", "NIN", {7, 0, 6}, "C"},
        QueueDepthCase{"gives_a_tie_between_non_optimized_paths_to_the_first", "INN", {0, 2, 2}, "B"},
        QueueDepthCase{"passes_over_an_idle_unusable_path", "xILCO", {0, 0, 0, 0, 9}, "E"},
        QueueDepthCase{"has_no_path_when_none_is_usable", "xI", {0, 0}, "-"}),
    [](const auto& param_info) { return param_info.param.name; });

// An idle path is found before the rest is looked at: a loaded path behind it makes no difference, and an
// idle non-optimized one before it does not end the search.
TEST(QueueDepth, ends_its_search_at_an_idle_optimized_path) {
    FakePaths paths("NOO");
    paths.set_depths({0, 0, 0});
    QueueDepth policy;
    EXPECT_EQ(choices(policy, paths.view(), 1), "B");
}

TEST(QueueDepth, levels_the_load_of_equal_paths) {
    std::vector<FakePath> fakes(2);
    std::vector<Candidate> candidates;
    for (FakePath& fake : fakes) {
        candidates.push_back({.path = &fake, .index = static_cast<std::uint16_t>(candidates.size())});
    }
    QueueDepth policy;
    for (int i = 0; i < 100; ++i) {
        ++fakes[policy.select({candidates, StateFilter::any}, Operation::read)].depth;
    }
    EXPECT_EQ(fakes[0].depth, 50U);
    EXPECT_EQ(fakes[1].depth, 50U);
}

} // namespace
} // namespace mpath::multipath::test
