// SPDX-License-Identifier: GPL-2.0-only
// What holds for every policy, whatever the paths do: an unusable path is never chosen, a usable one is
// always found, and an optimized one is preferred.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "multipath/io_policy.h"
#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

class EveryPolicy : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryPolicy, chooses_the_best_rank_there_is) {
    std::mt19937 random(20240915); // NOLINT: the same sequence in every run
    const std::string letters = "OONNILCx";
    for (int round = 0; round < 300; ++round) {
        const std::size_t count = 1 + random() % 8;
        FakePaths paths(std::string(count, 'O'));
        auto policy = make_io_policy(GetParam()).value();
        for (int step = 0; step < 50; ++step) {
            std::string states;
            std::vector<std::uint32_t> depths;
            for (std::size_t i = 0; i < count; ++i) {
                states += letters[random() % letters.size()];
                depths.push_back(random() % 4);
            }
            paths.become(states);
            paths.set_depths(depths);
            if (random() % 4 == 0) {
                policy->path_changed();
            }
            const auto filter = static_cast<StateFilter>(random() % 3);
            const PathView view = paths.view(filter);
            PathRank best = PathRank::unusable;
            for (std::size_t i = 0; i < count; ++i) {
                best = std::max(best, view.rank(i));
            }
            const std::size_t chosen = policy->select(view);
            if (best == PathRank::unusable) {
                ASSERT_EQ(chosen, kNoPath) << states;
            } else {
                ASSERT_LT(chosen, count) << states;
                ASSERT_EQ(view.rank(chosen), best) << states;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, testing::ValuesIn(io_policy_names()),
                         [](const auto& param_info) {
                             std::string name(param_info.param);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace mpath::multipath::test
