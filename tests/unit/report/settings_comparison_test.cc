// SPDX-License-Identifier: GPL-2.0-only
#include "report/settings_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/comparison_table.h"
#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Nanoseconds kLength = 10 * kSecond;

/// One visit of `a` or `b`, with 1000 I/Os a second and some more in b.
record::Visit visit(std::uint64_t number, bool is_b, double more) {
    record::Visit one;
    one.number = number;
    one.setting = is_b ? "b" : "a";
    one.cause = record::VisitCause::schedule;
    one.unit = (number - 1) / 4;
    one.asked = one.began = number * kLength;
    one.first_io = one.began + 1;
    one.settled = one.began + kSecond;
    one.ended = one.began + kLength;
    record::Moments& reads = one.steady[static_cast<std::size_t>(Operation::read)];
    reads.count = static_cast<std::uint64_t>(9000 * (is_b ? 1 + more : 1));
    reads.bytes = reads.count * 4096;
    reads.sum = 9 * 8 * kSecond; // eight at a time
    return one;
}

/// A job that visited a b b a so many times.
Job steered_job(std::size_t units, double more) {
    Job job{"x_mpath.1.json", record_of({}), {}, {}, {}};
    job.record.conditions.steering = record::Steering{"a@10s,b@10s", "abba", kSecond, {}};
    job.record.results.settings = {{"a", 18 * kSecond * units, 1, 2 * units, 0},
                                   {"b", 18 * kSecond * units, 1, 2 * units, 0}};
    for (std::uint64_t number = 1; number <= 4 * units; ++number) {
        const bool is_b = number % 4 == 2 || number % 4 == 3;
        // Units differ a little from one another, in both settings alike and not quite alike.
        const double jitter = is_b && (number - 1) / 4 % 2 == 0 ? 0.001 : 0;
        job.visits.visits.push_back(visit(number, is_b, more + jitter));
    }
    return job;
}

Block block_of(const report::Run& run) {
    return blocks_of(run).at(0);
}

TEST(SettingsOfABlock, AreComparedWithTheFirstOfTheSchedule) {
    const report::Run run{"run", {steered_job(4, 0.1)}};
    const auto comparisons = compare_settings(block_of(run));
    ASSERT_FALSE(comparisons.empty());
    EXPECT_EQ(comparisons[0].reference, "a");
    EXPECT_EQ(comparisons[0].other, "b");
    EXPECT_EQ(comparisons[0].estimate.units, 4);
    EXPECT_NEAR(comparisons[0].estimate.ratio.value(), 1.1, 0.002);
    EXPECT_TRUE(comparisons[0].estimate.shown());
}

TEST(SettingsOfABlock, AreComparedWithAnotherOneIfAsked) {
    const report::Run run{"run", {steered_job(4, 0.1)}};
    EXPECT_EQ(compare_settings(block_of(run), "b").at(0).other, "a");
    EXPECT_THAT(compare_settings(block_of(run), "nosuch"), IsEmpty());
}

TEST(SettingsOfABlock, PoolTheUnitsOfRepeats) {
    const report::Run first{"run-r1", {steered_job(2, 0.1)}};
    const report::Run second{"run-r2", {steered_job(2, 0.1)}};
    const std::vector<std::vector<Block>> repeats{blocks_of(first), blocks_of(second)};
    const Block merged = merge_repeats(repeats).at(0);
    EXPECT_EQ(merged.repeats.size(), 2);
    EXPECT_EQ(compare_settings(merged).at(0).estimate.units, 4);
    EXPECT_NEAR(compare_settings(merged).at(0).reference_value, 1000, 1);
}

TEST(ComparisonTable, SaysHowMuchAndWithinWhichLimits) {
    const report::Run run{"run", {steered_job(4, 0.1)}};
    const std::string text = comparison_table(compare_settings(block_of(run)));
    EXPECT_THAT(text, testing::StartsWith("compared with a, paired in 4 complete units, 95 % intervals:\n"
                                          "setting  op    IOPS"));
    EXPECT_THAT(text, testing::ContainsRegex("b +read  \\+10\\.[01]% \\(\\+"));
}

TEST(ComparisonTable, SaysThatNoDifferenceIsShownAndWhichOneWouldHaveBeen) {
    const report::Run run{"run", {steered_job(4, -0.0005)}};
    const std::string text = comparison_table(compare_settings(block_of(run)));
    EXPECT_THAT(text, HasSubstr("no difference shown ("));
    EXPECT_THAT(text, HasSubstr("would have been, four times in five\n"));
}

TEST(ComparisonTable, OfOneUnitHasNoInterval) {
    const report::Run run{"run", {steered_job(1, 0.1)}};
    EXPECT_THAT(comparison_table(compare_settings(block_of(run))), HasSubstr("(one unit: no interval)"));
}

TEST(ComparisonTable, IsNothingWithoutASchedule) {
    const report::Run run = run_of({record_of({})});
    EXPECT_EQ(comparison_table(compare_settings(block_of(run))), "");
}

TEST(Change, IsReadable) {
    EXPECT_EQ(change_text(1.034), "+3.4%");
    EXPECT_EQ(change_text(0.5), "-50.0%");
    EXPECT_EQ(change_text(3.5), "+250%");
    EXPECT_EQ(change_text(12.3), "x12.3");
}

} // namespace
} // namespace mpath::report
