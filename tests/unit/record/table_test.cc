// SPDX-License-Identifier: GPL-2.0-only
#include "record/table.h"

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "record/text.h"
#include "sample_record.h"

namespace mpath::record {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Table, ShowsTwoPathsAndTheirSum) {
    EXPECT_EQ("\n" + render_table(sample_report()), R"(
mpath: both: 2 paths, round-robin, 10.0s measured
  device uuid 1b4e28ba-2fa1-11d2-883f-0016d3cca427
  fio-mpath target, serial 0123456789, firmware 0.1
  p0  127.0.0.1:4420/nqn.2024-01.io.example:demo/1  optimized (group 1)
  p1  127.0.0.1:4421/nqn.2024-01.io.example:demo/1  optimized (group 1)
path  state      op     IOPS       BW    mean     p50     p99   p99.9     max  depth requeues errors
p0    optimized  read  1.20k 4.92MB/s  63.4µs  61.0µs  61.0µs   305µs   305µs   0.07        0      0
p1    optimized  read  1.20k 4.92MB/s   274µs   264µs   264µs  1.31ms  1.31ms   0.32        0      0
all              read  2.40k 9.83MB/s   168µs   264µs   264µs  1.31ms  1.31ms   0.39        0      0
)");
}

TEST(Table, HasARowForEachOperationThatHadIo) {
    JobReport report = sample_report();
    report.result.paths.pop_back();
    report.conditions.pop_back();
    report.result.paths[0].settings[0].operations.of(Operation::flush) = operation(7, 1'500'000, 0);
    report.result.paths[0].requeues = 3;
    report.result.paths[0].errors[1] = 123'456;
    EXPECT_EQ("\n" + render_table(report), R"(
mpath: both: 1 path, round-robin, 10.0s measured
  device uuid 1b4e28ba-2fa1-11d2-883f-0016d3cca427
  fio-mpath target, serial 0123456789, firmware 0.1
  p0  127.0.0.1:4420/nqn.2024-01.io.example:demo/1  optimized (group 1)
path  state      op     IOPS       BW    mean     p50     p99   p99.9     max  depth requeues errors
p0    optimized  read  1.20k 4.92MB/s  63.4µs  61.0µs  61.0µs   305µs   305µs   0.07        3   123k
                 sync      1        –  1.50ms  1.50ms  1.50ms  1.50ms  1.50ms
)");
}

TEST(Table, TellsEventsAfterTheNumbers) {
    JobReport report = sample_report();
    report.result.events = {
        {1'790'000'000'123'456'789, 7'345 * kMillisecond, 1, EventKind::state, "optimized -> inaccessible"},
        {1'790'000'001'000'000'000, 4 * kSecond, kNoPath, EventKind::refused, "p2: connection refused"}};
    report.result.events_dropped = 17;
    EXPECT_THAT(render_table(report),
                HasSubstr("14:13:20.123Z  +2.345s  p1  state: optimized -> inaccessible\n"
                          "14:13:21.000Z  -1.000s  job  refused: p2: connection refused\n"
                          "and 17 further events\n"));
}

TEST(Table, SaysAbsentForAPathWithoutIo) {
    JobReport report = sample_report();
    report.result.paths[1] = path_result("p1", 0, 0);
    report.result.paths[1].state.reset();
    EXPECT_THAT(render_table(report),
                testing::ContainsRegex("\np1 +– +– +0 +0B/s +– +– +– +– +– +0 +0 +0\n"));
}

TEST(Table, OfAJobThatNeverMeasuredHasNoRates) {
    JobReport report = sample_report();
    report.result.paths = {path_result("p0", 0, 0)};
    report.conditions.pop_back();
    report.result.measured_from = report.result.measured_until = 0;
    report.result.ended = false;
    const std::string text = render_table(report);
    EXPECT_THAT(text,
                HasSubstr("mpath: both: 1 path, round-robin, nothing measured, did not end by itself\n"));
    EXPECT_THAT(text, testing::ContainsRegex("\np0 +optimized +– +– +– +– +– +– +– +– +– +0 +0\n"));
}

TEST(Table, TellsTheDevicePerPathWhenTheyDiffer) {
    JobReport report = sample_report();
    report.conditions[1].serial = "other";
    EXPECT_THAT(render_table(report), HasSubstr("serial 0123456789"));
    EXPECT_THAT(render_table(report), HasSubstr("serial other"));
}

/// As wide as it gets: long names, all states, all operations, large numbers.
JobReport wide_report(std::size_t paths) {
    JobReport report;
    report.result.name = std::string(300, 'j');
    report.result.iopolicy = "round-robin";
    report.result.measured_from = 1;
    report.result.measured_until = 1 + kSecond;
    for (std::size_t index = 0; index < paths; ++index) {
        PathResult path = path_result(fmt::format("a-very-long-name-of-path-{}", index), 100, 123'456'789);
        path.state = kPathStates[index % kPathStates.size()];
        for (OperationResult& each : path.settings[0].operations.operations) {
            each = operation(12'345, 123'456'789, 999'999);
        }
        path.depth.area = 1023 * kSecond;
        path.requeues = 99'999;
        path.errors[1] = 999'999;
        report.result.paths.push_back(path);
        report.conditions.push_back(path_conditions(
            path.name, fmt::format("[2001:db8:1:2:3:4:5:{}]:4420/{}/1", index, std::string(223, 'q'))));
        report.conditions.back().serial = fmt::format("{}\x1b[2J", index);
        report.result.events.push_back(
            {kSecond, kSecond, static_cast<std::uint16_t>(index), EventKind::lost, std::string(200, 'e')});
    }
    return report;
}

TEST(Table, IsNeverWiderThanAHundredCharacters) {
    for (const std::size_t paths : {1, 2, 5, 16}) {
        std::istringstream lines(render_table(wide_report(paths)));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(text_width(line), kTableWidth) << line;
        }
    }
}

TEST(Table, ClipsNamesAndNeverNumbers) {
    const std::string text = render_table(wide_report(5));
    EXPECT_THAT(text, testing::ContainsRegex("12.3k +12.3GB/s"));
    EXPECT_THAT(text, HasSubstr("1023"));
    EXPECT_THAT(text, HasSubstr("99999"));
    EXPECT_THAT(text, HasSubstr("persistent-loss"));
    EXPECT_THAT(text, HasSubstr("[2001:db8:1:2:3:4:5:0]:4420")) << "the address keeps its beginning";
    EXPECT_THAT(text, HasSubstr("q/1  ")) << "and its end";
}

TEST(Table, LetsNoPeerSteerTheTerminal) {
    EXPECT_THAT(render_table(wide_report(2)), Not(HasSubstr("\x1b")));
}

TEST(Summary, OfAPathIsAJsonObject) {
    PathResult path = path_result("p0", 100, 1'000'000);
    path.requeues = 4;
    path.retries = 2;
    path.exposed_writes = 1;
    EXPECT_EQ(path_summary(path, kSecond),
              R"({"state":"optimized","depth":0.10,"requeues":4,"retries":2,"exposed":1,"errors":0})");
    path.state.reset();
    path.retries.reset();
    path.exposed_writes.reset();
    EXPECT_EQ(path_summary(path, 0),
              R"({"state":null,"depth":null,"requeues":4,"retries":null,"exposed":null,"errors":0})");
}

TEST(Summary, OfAPathsRequeuesHasTheirDelays) {
    PathResult path;
    EXPECT_EQ(requeue_summary(path), "null") << "nobody measured it";
    path.requeue_delay = DelayResult{};
    EXPECT_EQ(requeue_summary(path), "null") << "none";
    path.requeue_delay = DelayResult{operation(100, 61'000)};
    const auto summary = nlohmann::json::parse(requeue_summary(path));
    EXPECT_EQ(summary["ios"], 100);
    EXPECT_EQ(summary["mean"], 63'440);
    EXPECT_EQ(summary["max"], 305'000);
    EXPECT_FALSE(summary.contains("bytes"));
}

TEST(Summary, OfAJobHasItsLongestGapAndSums) {
    JobResult job = sample_report().result;
    EXPECT_EQ(
        job_summary(job),
        R"({"gap":null,"requeues":0,"exposed":null,"held":null,"held_max":null,"no_path":null,"events":0})");
    job.events = {
        {1, 1, 0, EventKind::lost, ""}, {2, 2, 1, EventKind::lost, ""}, {3, 3, 1, EventKind::state, ""}};
    job.events[0].gap = 5'000;
    job.events[1].gap = 7'000;
    job.events_dropped = 4;
    job.held = HoldResult{3, 60, 30, 2};
    for (PathResult& path : job.paths) {
        path.requeues = 8;
        path.exposed_writes = 1;
    }
    EXPECT_EQ(job_summary(job),
              R"({"gap":7000,"requeues":16,"exposed":2,"held":3,"held_max":30,"no_path":2,"events":7})");
}

TEST(Summary, OfAnOperationHasWholeNanoseconds) {
    const auto summary = nlohmann::json::parse(operation_summary(operation(100, 61'000)));
    EXPECT_EQ(summary["ios"], 100);
    EXPECT_EQ(summary["bytes"], 409'600);
    EXPECT_EQ(summary["mean"], 63'440);
    EXPECT_NEAR(summary["p50"].get<double>(), 61'000, 610);
    EXPECT_EQ(summary["max"], 305'000);
}

TEST(Summary, OfAnOperationWithoutIoIsNull) {
    EXPECT_EQ(operation_summary({}), "null");
}

TEST(Summary, FitsIntoWhatFioSendsToItsClient) {
    OperationResult large;
    large.moments = {999'999'999'999, 999'999'999'999'999, 0, 0, 1, kLargestTime};
    large.moments.sum = large.moments.count * 12'345'678;
    large.histogram.add(kLargestTime, large.moments.count);
    const std::string summary = operation_summary(large);
    EXPECT_LE(summary.size(), kJobOptionBytes);
    const auto parsed = nlohmann::json::parse(summary);
    EXPECT_TRUE(parsed.contains("p99"));
    EXPECT_FALSE(parsed.contains("p50")) << "gives way first";

    PathResult path;
    path.state = PathState::persistent_loss;
    path.depth.area = ~std::uint64_t{0};
    path.requeues = ~std::uint64_t{0};
    path.errors[1] = ~std::uint64_t{0};
    path.retries = path.exposed_writes = ~std::uint64_t{0};
    path.requeue_delay = DelayResult{large};
    EXPECT_LE(path_summary(path, kSecond).size(), kJobOptionBytes);
    EXPECT_LE(requeue_summary(path).size(), kJobOptionBytes);

    JobResult job;
    job.paths = {path};
    job.held = HoldResult{~std::uint64_t{0}, 0, ~std::uint64_t{0}, ~std::uint64_t{0}};
    job.events.resize(1);
    job.events[0].gap = ~std::uint64_t{0};
    EXPECT_LE(job_summary(job).size(), kJobOptionBytes);
    EXPECT_TRUE(nlohmann::json::parse(job_summary(job)).contains("gap"));
}

} // namespace
} // namespace mpath::record
