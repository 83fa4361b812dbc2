// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/latency.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

/// A policy over paths that each take a time of their own.
class LatencyOver {
public:
    explicit LatencyOver(std::string_view states) : paths_(states), policy_(states.size()) {}

    /// The path at this position has completed I/Os that took so long.
    void answer(std::size_t position, Nanoseconds time, int count = 1,
                Operation operation = Operation::read) {
        for (int i = 0; i < count; ++i) {
            Request request;
            request.operation = operation;
            request.dispatched_at = now_;
            request.completed_at = now_ + time;
            policy_.completed(position, request);
        }
    }
    void pass(Nanoseconds time) { now_ += time; }

    /// How many of `ios` each path gets, and no more than that of what came before: "48:16".
    std::string shares(std::size_t ios, Operation operation = Operation::read) {
        (void)choices(policy_, paths_.view(), 1000, operation); // what was left of earlier credits
        const std::string given = choices(policy_, paths_.view(), ios, operation);
        return fmt::format("{}:{}", std::count(given.begin(), given.end(), 'A'),
                           std::count(given.begin(), given.end(), 'B'));
    }

    [[nodiscard]] std::string next(std::size_t ios, Operation operation = Operation::read) {
        return choices(policy_, paths_.view(), ios, operation);
    }
    Latency& policy() { return policy_; }

private:
    FakePaths paths_;
    Latency policy_;
    Nanoseconds now_ = kSecond;
};

struct LatencyCase {
    std::string name;
    std::string states;
    Nanoseconds a; ///< response time of the first path
    Nanoseconds b; ///< of the second
    std::size_t ios;
    std::string shares;
};

class LatencyRule : public testing::TestWithParam<LatencyCase> {};

// A round is as many I/Os as the weights add up to, which rounding makes a little less than 64.
TEST_P(LatencyRule, holds) {
    const LatencyCase& rule = GetParam();
    LatencyOver paths(rule.states);
    paths.answer(0, rule.a);
    paths.answer(1, rule.b);
    EXPECT_EQ(paths.shares(rule.ios), rule.shares);
}

INSTANTIATE_TEST_SUITE_P(Proposal, LatencyRule,
                         testing::Values(LatencyCase{"halves_between_equal_paths", "OO", kMillisecond,
                                                     kMillisecond, 6400, "3200:3200"},
                                         LatencyCase{"shares_in_inverse_proportion", "OO", kMillisecond,
                                                     3 * kMillisecond, 6300, "4800:1500"},
                                         LatencyCase{"gives_a_very_slow_path_one_io_of_a_round", "OO",
                                                     100 * kMillisecond, 50 * kMicrosecond, 6400, "100:6300"},
                                         LatencyCase{"counts_a_non_optimized_path_like_any_other", "NO",
                                                     kMillisecond, 3 * kMillisecond, 6300, "4800:1500"},
                                         LatencyCase{"leaves_samples_above_one_second_out", "OO",
                                                     kMillisecond, 2 * kSecond, 6500, "6400:100"}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(Latency, takes_turns_until_a_path_has_answered) {
    LatencyOver paths("OOO");
    EXPECT_EQ(paths.next(6), "ABCABC");
}

TEST(Latency, spends_the_credits_of_a_path_before_it_goes_on) {
    LatencyOver paths("OO");
    paths.answer(0, kMillisecond);
    paths.answer(1, 31 * kMillisecond);
    const std::string round = std::string(62, 'A') + "B";
    EXPECT_THAT(paths.next(200), testing::HasSubstr(round + round));
}

TEST(Latency, keeps_reads_and_writes_apart) {
    LatencyOver paths("OO");
    paths.answer(0, kMillisecond, 1, Operation::read);
    paths.answer(1, 3 * kMillisecond, 1, Operation::read);
    paths.answer(0, 3 * kMillisecond, 1, Operation::write);
    paths.answer(1, kMillisecond, 1, Operation::write);
    EXPECT_EQ(paths.shares(6300, Operation::read), "4800:1500");
    EXPECT_EQ(paths.shares(6300, Operation::write), "1500:4800");
    EXPECT_EQ(paths.next(4, Operation::trim), "ABAB");
}

TEST(Latency, takes_the_mean_of_what_has_come_while_the_first_window_lasts) {
    LatencyOver paths("OO");
    paths.answer(1, kMillisecond);
    paths.answer(0, 30 * kMillisecond); // a hiccup
    EXPECT_EQ(paths.shares(6300), "200:6100");
    paths.answer(0, kMillisecond, 31);
    EXPECT_EQ(paths.shares(6300), "2200:4100"); // (30 + 31) / 32 = 1.9 ms
}

TEST(Latency, gives_each_further_window_an_eighth) {
    LatencyOver paths("OO");
    paths.answer(0, kMillisecond);
    paths.answer(1, 2 * kMillisecond);
    paths.pass(15 * kSecond);
    paths.answer(0, kMillisecond); // ends the first window
    paths.answer(0, 9 * kMillisecond);
    EXPECT_EQ(paths.shares(6300), "4200:2100") << "the second window is not over";
    paths.pass(15 * kSecond);
    paths.answer(0, 9 * kMillisecond); // (7 * 1 ms + 9 ms) / 8 = 2 ms
    EXPECT_EQ(paths.shares(6400), "3200:3200");
}

TEST(Latency, forgets_what_it_knew_of_a_path_that_failed_an_io) {
    LatencyOver paths("OO");
    paths.answer(0, kMillisecond);
    paths.answer(1, kMillisecond);
    paths.policy().path_failed(0);
    EXPECT_EQ(paths.shares(3300), "100:3200");
    paths.answer(0, kMillisecond);
    EXPECT_EQ(paths.shares(6400), "3200:3200");
}

TEST(Latency, knows_nothing_of_a_path_that_is_no_candidate_any_more) {
    LatencyOver paths("OO");
    paths.policy().path_failed(kNoPath);
    EXPECT_EQ(paths.next(4), "ABAB");
}

TEST(Latency, starts_anew_after_a_change) {
    LatencyOver paths("OO");
    paths.answer(0, kMillisecond);
    paths.answer(1, 3 * kMillisecond);
    paths.policy().path_changed();
    EXPECT_EQ(paths.next(6), "ABABAB");
}

TEST(Latency, leaves_an_io_that_took_no_time_out) {
    LatencyOver paths("OO");
    paths.answer(0, 0);
    EXPECT_EQ(paths.next(4), "ABAB");
}

} // namespace
} // namespace mpath::multipath::test
