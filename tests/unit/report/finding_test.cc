// SPDX-License-Identifier: GPL-2.0-only
#include "report/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> findings(const record::Record& record) {
    const Block block = blocks_of({record}).at(0);
    return findings_of(block, client_of(block));
}

TEST(Findings, AreNoneOfAnOrdinaryRun) {
    EXPECT_THAT(findings(record_of({})), IsEmpty());
}

TEST(Findings, CallAJobWithoutIoAnError) {
    const auto found = findings(record_of({.name = "idle", .reads = 0}));
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0], (Finding{Weight::error, "idle did no I/O: nothing was measured"}));
}

record::Record steered(const std::vector<record::SettingTime>& settings) {
    record::Record record = record_of({});
    record.conditions.steering = record::Steering{"round-robin@5s,numa@5s", "abba", kSecond, {}};
    record.results.settings = settings;
    return record;
}

TEST(Findings, CallASettingThatWasNeverVisitedAnError) {
    const auto found = findings(steered({{"round-robin", 5 * kSecond, 1, 1, 0}, {"numa", 0, 0, 0, 0}}));
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].weight, Weight::error);
    EXPECT_THAT(found[0].text, HasSubstr("setting numa was never visited"));
}

TEST(Findings, CallASettingWithoutIoAnErrorAlthoughItWasVisited) {
    const auto found =
        findings(steered({{"round-robin", 5 * kSecond, 1, 1, 0}, {"numa", 5 * kSecond, 1, 1, 0}}));
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].weight, Weight::error);
    EXPECT_THAT(found[0].text, HasSubstr("setting numa should have had I/O and had none"));
}

TEST(Findings, WarnOfReadsOfZeroesAboveOnePercent) {
    record::Record record = record_of({});
    record.results.paths[0].sampled_reads = 1000;
    record.results.paths[0].all_zero_reads = 10;
    EXPECT_THAT(findings(record), IsEmpty());
    record.results.paths[0].all_zero_reads = 11;
    const auto found = findings(record);
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].weight, Weight::warning);
    EXPECT_THAT(found[0].text, HasSubstr("of the 1000 sampled reads on path a were nothing but zeroes"));
}

/// 8 slots that are always full: 10 s, 1000 reads of 80 ms.
JobShape saturated() {
    return {.reads = 1000, .time = 80'000'000};
}

TEST(Findings, CallAFullQueueWithoutARateASaturationPoint) {
    const auto found = findings(record_of(saturated()));
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].weight, Weight::note);
    EXPECT_THAT(found[0].text, HasSubstr("depth / IOPS = 8.0 / 100 = 80.0ms"));
}

TEST(Findings, CallARateNoSaturationPoint) {
    record::Record record = record_of(saturated());
    record.conditions.workload.rate_iops_read = 100;
    EXPECT_THAT(findings(record), IsEmpty());
}

TEST(Findings, WarnOfABusyClient) {
    record::Record record = record_of({});
    record.results.cpu.user = 3 * kSecond;
    record.results.cpu.system = 6 * kSecond;
    const auto found = findings(record);
    ASSERT_EQ(found.size(), 1);
    EXPECT_THAT(found[0].text, HasSubstr("used 90 % of a core: the limit is likely the client"));
}

TEST(Findings, TellACheckpoint) {
    record::Record record = record_of({});
    record.complete = false;
    EXPECT_THAT(findings(record).at(0).text, HasSubstr("run_mpath.1.json is a checkpoint"));
}

TEST(Findings, OfASumAreToldByItsBlocks) {
    record::Record idle = record_of({.name = "b", .reads = 0});
    const auto blocks = blocks_of({record_of({.name = "a"}), idle});
    ASSERT_TRUE(blocks.back().is_sum);
    EXPECT_THAT(findings_of(blocks.back(), client_of(blocks.back())), IsEmpty());
}

TEST(FindingLines, AreWrappedAtTheWidthOfTheTables) {
    std::string words;
    for (int i = 0; i < 60; ++i) {
        words += (i == 0 ? "" : " ") + std::string("words");
    }
    const std::string text = finding_lines({{Weight::warning, words}});
    EXPECT_THAT(text, testing::StartsWith("warning: words"));
    EXPECT_THAT(text, HasSubstr("\n  words"));
    EXPECT_THAT(text, Not(testing::ContainsRegex("[^\n]{101}")));
}

/// A connection's counters at the end of each second.
record::Interval interval(Nanoseconds at, std::uint64_t sndbuf_us, std::uint64_t rwnd_us) {
    record::TcpSample sample;
    sample.queue = 1;
    sample.sndbuf_limited_us = sndbuf_us;
    sample.rwnd_limited_us = rwnd_us;
    record::IntervalPath path;
    path.name = "a";
    path.connections = {sample};
    record::Interval interval{at, at, kSecond, {}, {}};
    interval.paths = {path};
    return interval;
}

TEST(Client, TellsHowLongSendingWasHeldBack) {
    report::Run run = run_of({record_of({})});
    // The second connection of the path began anew in between.
    run.jobs[0].intervals = {interval(1 * kSecond, 900'000, 0), interval(2 * kSecond, 1'100'000, 0),
                             interval(3 * kSecond, 300'000, 500'000)};
    const Client client = client_of(blocks_of(run).at(0));
    ASSERT_EQ(client.paths.size(), 1);
    EXPECT_DOUBLE_EQ(client.paths[0].by_send_buffer.value(), 0.25);
    EXPECT_DOUBLE_EQ(client.paths[0].by_window.value(), 0.25);
    EXPECT_FALSE(client.paths[0].retransmits) << "nobody told";
}

} // namespace
} // namespace mpath::report
