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

TEST(Merge, AddsUpRequeuesRetriesExposedWritesAndHolds) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    for (JobReport* report : {&one, &other}) {
        PathResult& path = report->result.paths[0];
        path.requeue_delay = DelayResult{operation(10, report == &one ? 1'000 : 2'000)};
        path.retries = 3;
        path.exposed_writes = 2;
        report->result.held = HoldResult{4, 100, report == &one ? 70U : 60U, 1};
    }
    other.result.paths[1].retries = 5; // the other job did not count its own
    merge(one, other);
    const PathResult& path = one.result.paths[0];
    EXPECT_EQ(path.requeue_delay->count(), 20U);
    EXPECT_EQ(path.requeue_delay->moments.max, 2'000U);
    EXPECT_EQ(path.requeue_delay->histogram.count(), 20U);
    EXPECT_EQ(path.retries, 6U);
    EXPECT_EQ(path.exposed_writes, 4U);
    EXPECT_EQ(one.result.held, (HoldResult{8, 200, 70, 2}));
    EXPECT_EQ(one.result.paths[1].retries, std::nullopt) << "half a sum is no sum";
    EXPECT_EQ(one.result.paths[1].requeue_delay, std::nullopt);
    other.result.held.reset();
    merge(one, other);
    EXPECT_EQ(one.result.held, std::nullopt);
}

TEST(Merge, KeepsTheEventsOfAllJobsWithTheirGapsInTheOrderTheyHappened) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    one.result.events = {{1, 20, 0, EventKind::lost, "one"}};
    one.result.events[0].gap = 5;
    other.result.events = {{1, 10, 0, EventKind::lost, "other"}, {1, 30, 0, EventKind::connected, "other"}};
    other.result.events[0].gap = 7;
    other.result.events[0].requeues = 3;
    merge(one, other);
    ASSERT_EQ(one.result.events.size(), 3U);
    EXPECT_EQ(one.result.events[0].gap, 7U);
    EXPECT_EQ(one.result.events[0].requeues, 3U);
    EXPECT_EQ(one.result.events[1].gap, 5U);
    EXPECT_EQ(one.result.events[2].gap, std::nullopt);
}

TEST(Merge, AddsUpSettingsByTheirNameAndKeepsRatesThoseOfAllJobs) {
    JobReport one = steered_report();
    JobReport other = steered_report();
    other.result.settings[1] = {"numa", 2 * kSecond, 1, 1, 0};
    for (PathResult& path : other.result.paths) {
        path.settings[1].name = "numa";
    }
    merge(one, other);
    const std::vector<SettingTime>& times = one.result.settings;
    ASSERT_EQ(times.size(), 3U);
    EXPECT_EQ(times[0], (SettingTime{"round-robin", 8 * kSecond, 2, 6, 0}));
    EXPECT_DOUBLE_EQ(times[0].seconds(), 4) << "side by side: the rates of both add up";
    EXPECT_EQ(times[1], (SettingTime{"queue-depth", 4 * kSecond, 1, 2, 1}));
    EXPECT_EQ(times[2], (SettingTime{"numa", 2 * kSecond, 1, 1, 0}));
    const std::vector<SettingResult>& settings = one.result.paths[0].settings;
    ASSERT_EQ(settings.size(), 4U);
    EXPECT_EQ(settings[0].operations.of(Operation::read).count(), 8'000U);
    EXPECT_EQ(settings[2].name, kTransition);
    EXPECT_EQ(settings[2].operations.of(Operation::read).count(), 1'000U);
    EXPECT_EQ(one.result.switch_delay->count(), 8U);
}

TEST(Merge, OfJobsWithAPolicyEachTellsThemApart) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    other.result.settings.clear(); // an older record
    for (PathResult& path : other.result.paths) {
        path.settings[0].name = "numa";
    }
    EXPECT_FALSE(one.result.has_several_settings());
    merge(one, other);
    EXPECT_TRUE(one.result.has_several_settings());
    ASSERT_EQ(one.result.settings.size(), 2U);
    EXPECT_EQ(one.result.settings[1], (SettingTime{"numa", 10 * kSecond, 1, 1, 0}));
}

TEST(Merge, NamesTheJobOfEachEvent) {
    JobReport one = sample_report();
    JobReport other = sample_report();
    JobReport third = sample_report();
    one.result.events = {{1, 20, 0, EventKind::lost, ""}};
    other.result.events = {{1, 10, 0, EventKind::lost, ""}};
    other.result.thread_number = 2;
    third.result.events = {{1, 30, 0, EventKind::lost, ""}};
    third.result.name = "verify";
    third.result.thread_number = 3;
    merge(one, other);
    merge(one, third);
    ASSERT_EQ(one.result.events.size(), 3U);
    EXPECT_EQ(one.result.events[0].job, "both#2");
    EXPECT_EQ(one.result.events[1].job, "both#1");
    EXPECT_EQ(one.result.events[2].job, "verify#3");
}

TEST(Merge, OfARepeatLaysItBehindAndKeepsRatesThoseOfOneRun) {
    JobReport one = steered_report();
    JobReport other = steered_report();
    other.result.measured_from += 500 * kSecond;
    other.result.measured_until += 500 * kSecond;
    other.result.events = {{1, 507 * kSecond, 0, EventKind::lost, ""}};
    merge_repeat(one, other);
    EXPECT_EQ(one.result.measured(), 20 * kSecond);
    EXPECT_EQ(one.result.jobs, 1U);
    EXPECT_DOUBLE_EQ(one.result.settings[0].seconds(), 8);
    EXPECT_EQ(one.result.settings[0].visits, 6U);
    ASSERT_EQ(one.result.events.size(), 1U);
    EXPECT_EQ(one.result.events[0].monotonic, 17 * kSecond);
    EXPECT_EQ(one.result.events[0].job, "") << "it is the same job";
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
