// SPDX-License-Identifier: GPL-2.0-only
// What holds for every policy, whatever the paths do: an unusable path is never chosen and a usable one is
// always found; and which of them keep to the optimized ones.
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

/// Paths in random states and under random loads, whose policy hears of some of that.
class RandomPaths {
public:
    explicit RandomPaths(std::string_view policy_name)
        : names_(std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h"}),
          paths_(std::string(1 + random_() % names_.size(), 'O')) {
        names_.resize(paths_.view().size());
        preferred_ = random_() % names_.size();
        std::string text(policy_name);
        if (const auto name = text.find("NAME"); name != std::string::npos) {
            text.replace(name, 4, names_[preferred_]);
        }
        policy_ = std::move(make_io_policy(text, names_)).value();
    }

    /// Something happens.
    void step() {
        static constexpr std::string_view kLetters = "OONNILCx";
        std::string states;
        std::vector<std::uint32_t> depths;
        std::vector<std::uint64_t> bytes;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            states += kLetters[random_() % kLetters.size()];
            depths.push_back(random_() % 4);
            bytes.push_back(random_() % 4 * 512);
        }
        paths_.become(states);
        paths_.set_depths(depths);
        paths_.set_bytes(bytes);
        filter_ = static_cast<StateFilter>(random_() % 3);
        const std::size_t position = random_() % names_.size();
        switch (random_() % 8) {
        case 0:
            policy_->path_changed();
            break;
        case 1:
            policy_->path_failed(random_() % 4 == 0 ? kNoPath : position);
            break;
        case 2:
            break;
        default:
            complete_one(position);
        }
    }

    std::size_t select() { return policy_->select(view(), static_cast<Operation>(random_() % kOperations)); }
    [[nodiscard]] PathView view() const { return paths_.view(filter_); }
    [[nodiscard]] std::size_t preferred() const { return preferred_; }

    [[nodiscard]] PathRank best_rank() const {
        PathRank best = PathRank::unusable;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            best = std::max(best, view().rank(i));
        }
        return best;
    }

private:
    void complete_one(std::size_t position) {
        if (!policy_->hears_completions()) {
            return;
        }
        now_ += random_() % (2 * kSecond);
        Request request;
        request.operation = static_cast<Operation>(random_() % kOperations);
        request.completed_at = now_;
        request.dispatched_at = now_ - (random_() % 2 == 0 ? kMillisecond : random_() % (2 * kSecond));
        policy_->completed(position, request);
    }

    // Shared, so that each is another one, and the sequence the same in every run.
    static inline std::mt19937 random_{20240915}; // NOLINT
    std::vector<std::string> names_;
    FakePaths paths_;
    StateFilter filter_ = StateFilter::any;
    std::size_t preferred_ = 0;
    std::unique_ptr<IoPolicy> policy_;
    Nanoseconds now_ = 10 * kSecond;
};

constexpr int kRounds = 300;
constexpr int kSteps = 50;

class EveryPolicy : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryPolicy, finds_a_usable_path_exactly_when_there_is_one) {
    for (int round = 0; round < kRounds; ++round) {
        RandomPaths paths(GetParam());
        for (int step = 0; step < kSteps; ++step) {
            paths.step();
            const std::size_t chosen = paths.select();
            if (paths.best_rank() == PathRank::unusable) {
                ASSERT_EQ(chosen, kNoPath);
            } else {
                ASSERT_LT(chosen, paths.view().size());
                ASSERT_NE(paths.view().rank(chosen), PathRank::unusable);
            }
        }
    }
}

std::string name_of_policy(const testing::TestParamInfo<std::string_view>& param_info) {
    std::string name(param_info.param);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '-' || c == ':'; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, testing::ValuesIn(io_policy_names()), name_of_policy);

class RankedPolicy : public testing::TestWithParam<std::string_view> {};

TEST_P(RankedPolicy, chooses_the_best_rank_there_is) {
    for (int round = 0; round < kRounds; ++round) {
        RandomPaths paths(GetParam());
        for (int step = 0; step < kSteps; ++step) {
            paths.step();
            const std::size_t chosen = paths.select();
            if (chosen != kNoPath) {
                ASSERT_EQ(paths.view().rank(chosen), paths.best_rank());
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, RankedPolicy,
                         testing::Values("round-robin", "queue-depth", "numa", "service-time"),
                         name_of_policy);

TEST(PreferredPolicy, chooses_the_best_rank_there_is_without_its_path) {
    for (int round = 0; round < kRounds; ++round) {
        RandomPaths paths("preferred:NAME");
        for (int step = 0; step < kSteps; ++step) {
            paths.step();
            const std::size_t chosen = paths.select();
            if (paths.view().rank(paths.preferred()) != PathRank::unusable) {
                ASSERT_EQ(chosen, paths.preferred());
            } else if (chosen != kNoPath) {
                ASSERT_EQ(paths.view().rank(chosen), paths.best_rank());
            }
        }
    }
}

} // namespace
} // namespace mpath::multipath::test
