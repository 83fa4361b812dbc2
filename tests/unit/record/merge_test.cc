// SPDX-License-Identifier: GPL-2.0-only
#include "record/merge.h"

#include <gtest/gtest.h>

#include "sample_record.h"

namespace mpath::record {
namespace {

TEST(Merge, AddsUpWhatTwoJobsDidOnTheSamePath) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    other.result.measured_until = 16 * kSecond;
    other.result.ended = false;
    merge(one, other);
    EXPECT_EQ(one.result.jobs, 2U);
    ASSERT_EQ(one.result.paths.size(), 2U);
    const PathResult& path = one.result.paths[0];
    EXPECT_EQ(path.operations().of(Operation::read).count(), 24'000U);
    EXPECT_EQ(path.operations().of(Operation::read).histogram.count(), 24'000U);
    EXPECT_EQ(path.depth.area, 2U * 12'000 * 61'000);
    EXPECT_EQ(one.result.measured(), 11 * kSecond);
    EXPECT_FALSE(one.result.ended);
}

TEST(Merge, EqualsOneJobWithAllTheSamples) {
    OperationResult first = operation(100, 1000);
    const OperationResult second = operation(50, 20'000);
    OperationResult pooled = first;
    for (int index = 0; index < 50; ++index) {
        const std::uint64_t time = index % 100 == 99 ? 100'000 : 20'000;
        pooled.moments.add(time, 4096);
        pooled.histogram.add(time);
    }
    first.merge(second);
    EXPECT_EQ(first, pooled);
}

TEST(Merge, KeepsPathsOfTheSameNameApartWhenTheyLeadElsewhere) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    other.conditions[0].address = "127.0.0.1:9999/other/1";
    other.result.events = {{1, 2, 0, EventKind::lost, "x"}};
    merge(one, other);
    ASSERT_EQ(one.result.paths.size(), 3U);
    EXPECT_EQ(one.conditions[2].address, "127.0.0.1:9999/other/1");
    ASSERT_EQ(one.result.events.size(), 1U);
    EXPECT_EQ(one.result.events[0].path, 2U) << "events go with their path";
}

TEST(Merge, DoesNotMakeUpWhatOneOfTheJobsDidNotMeasure) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    one.result.cpu.system_calls = 5;
    other.result.cpu.system_calls = std::nullopt;
    one.result.paths[0].traffic.commands = 5;
    other.result.paths[0].traffic.commands = 6;
    other.result.paths[0].state = PathState::inaccessible;
    merge(one, other);
    EXPECT_EQ(one.result.cpu.system_calls, std::nullopt);
    EXPECT_EQ(one.result.paths[0].traffic.commands, 11U);
    EXPECT_EQ(one.result.paths[0].depth.max, std::nullopt);
    EXPECT_EQ(one.result.paths[0].state, std::nullopt) << "the jobs differ";
}

TEST(Merge, OfAJobThatMeasuredNothingDoesNotStretchTheTime) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    other.result.measured_from = 0;
    other.result.measured_until = 0;
    merge(one, other);
    EXPECT_EQ(one.result.measured(), 10 * kSecond);
    merge(other, sample_report());
    EXPECT_EQ(other.result.measured(), 10 * kSecond);
}

} // namespace
} // namespace mpath::record
