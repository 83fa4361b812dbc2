// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/text.h"
#include "top_jobs.h"

namespace mpath::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(TopScreen, ShowsJobsWithTheirPaths) {
    TopScreen screen;
    screen.lines = 16;
    screen.columns = 100;
    screen.events = {"14:13:19.000Z  seq  a  lost: the connection broke"};
    screen.message = "seq: numa -> path:a, followed in 2.00ms";
    const auto lines = render_top(view_of({running_job(), waiting_job()}), screen);
    const std::vector<std::string> expected{
        "fio-mpath top  2026-09-21T14:13:20.000Z  every 1.00s  1 fio, 2 jobs",
        "    path use state         op    IOPS       BW  mean   p99 depth requeues errors",
        "> 42 seq: path:a, by command, visit 7",
        "  0 a    yes optimized     read 1.00k 4.10MB/s 100µs 150µs  1.50        3      4",
        "  1 b    no  non-optimized –        0        –     –     –  1.50        3      4",
        "> 42 late: has not started",
        "",
        "",
        "",
        "",
        "",
        "",
        "14:13:19.000Z  seq  a  lost: the connection broke",
        "seq: numa -> path:a, followed in 2.00ms",
        "1 round-robin  2 queue-depth  3 numa  4 service-time  5 latency  6 preferred:NAME",
        "j/k job  e/d enable/disable path  s schedule  q quit"};
    EXPECT_EQ(lines, expected);
}

TEST(TopScreen, MarksTheChosenJob) {
    TopScreen screen;
    screen.chosen = 1;
    const auto lines = render_top(view_of({running_job(), waiting_job()}), screen);
    EXPECT_THAT(lines, Contains(StartsWith("  42 seq")));
    EXPECT_THAT(lines, Contains(StartsWith("> 42 late")));
}

TEST(TopScreen, SaysNothingOfKeysWhereThereAreNone) {
    TopScreen screen;
    screen.keys = false;
    EXPECT_THAT(render_top(view_of({running_job()}), screen), Not(Contains(HasSubstr("q quit"))));
}

TEST(TopScreen, FitsEveryTerminal) {
    std::vector<TopJob> jobs;
    for (std::uint32_t number = 1; number <= 30; ++number) {
        jobs.push_back(running_job("a job with quite a long name", number));
    }
    TopScreen screen;
    screen.events = std::vector<std::string>(20, std::string(300, 'e'));
    screen.message = std::string(300, 'm');
    for (const std::size_t height : {1U, 2U, 3U, 5U, 10U, 24U, 200U}) {
        for (const std::size_t width : {1U, 10U, 80U, 300U}) {
            screen.lines = height;
            screen.columns = width;
            const auto lines = render_top(view_of(jobs), screen);
            ASSERT_EQ(lines.size(), height);
            for (const std::string& line : lines) {
                ASSERT_LE(record::text_width(line), width);
            }
        }
    }
}

TEST(TopScreen, ShowsTheChosenJobWhereNotAllFit) {
    std::vector<TopJob> jobs;
    for (std::uint32_t number = 1; number <= 30; ++number) {
        jobs.push_back(running_job("job" + std::to_string(number), number));
    }
    TopScreen screen;
    for (const std::size_t chosen : {0U, 11U, 29U}) {
        screen.chosen = chosen;
        EXPECT_THAT(render_top(view_of(jobs), screen),
                    Contains(StartsWith("> 42 job" + std::to_string(chosen + 1) + ":")));
    }
}

TEST(TopScreen, WithoutJobsIsEmpty) {
    const auto lines = render_top(view_of({}), {});
    EXPECT_THAT(lines[0], HasSubstr("0 fio, 0 jobs"));
    EXPECT_EQ(lines[2], "");
}

} // namespace
} // namespace mpath::cli
