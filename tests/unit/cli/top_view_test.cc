// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "top_jobs.h"

namespace mpath::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

record::Event lost_event() {
    return {kSomeDay, 0, 1, record::EventKind::lost, "the connection broke\x1B[2J"};
}

TEST(TopRows, AreThoseOfAPathAndOperation) {
    TopJob job = running_job();
    job.interval->paths[0] = numbers_of("a", 500, 50);
    const auto rows = top_rows(job);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0], (TopRow{"a", "yes", "optimized", "read", "1.00k", "4.10MB/s", "100µs", "150µs", "1.50",
                               "3", "4"}));
    EXPECT_EQ(rows[1], (TopRow{"", "", "", "write", "100", "819kB/s", "200µs", "–", "", "", ""}));
    EXPECT_EQ(rows[2], (TopRow{"b", "no", "non-optimized", "–", "0", "–", "–", "–", "1.50", "3", "4"}));
}

TEST(TopRows, SayThatNothingWasMeasured) {
    TopJob job = running_job();
    job.interval.reset();
    job.paths[0].state.reset();
    EXPECT_EQ(top_rows(job)[0], (TopRow{"a", "yes", "–", "–", "–", "–", "–", "–", "–", "–", "–"}));
}

TEST(SettingText, SaysWhoChoseTheSetting) {
    TopJob job = running_job();
    EXPECT_EQ(setting_text(job), "path:a, by command, visit 7");
    job.has_schedule = true;
    EXPECT_EQ(setting_text(job), "path:a, by command instead of its schedule, visit 7");
    job.cause = record::VisitCause::schedule;
    job.asked = true;
    EXPECT_EQ(setting_text(job), "path:a, by its schedule, visit 7, has not followed yet");
    EXPECT_EQ(setting_text(waiting_job()), "has not started");
    EXPECT_EQ(setting_text(ended_job()), "has ended");
}

TEST(PlainText, HasAHeadRowsAndEvents) {
    TopJob job = running_job();
    job.events = {lost_event()};
    const std::string text = plain_text(view_of({job, waiting_job()}), true);
    EXPECT_THAT(text, HasSubstr("time              run job          setting"));
    EXPECT_THAT(text, HasSubstr("14:13:20.000Z      42 seq          path:a               a            yes"));
    EXPECT_THAT(text, HasSubstr("14:13:20.000Z  seq  b  lost: the connection broke?[2J\n"))
        << "what a target said can't steer the terminal";
    EXPECT_THAT(text, HasSubstr("late         has not started\n"));
    EXPECT_THAT(plain_text(view_of({job}), false), Not(HasSubstr("setting")));
}

TEST(PlainText, TellsTheEndOfAJobOnce) {
    TopJob job = ended_job();
    EXPECT_THAT(plain_text(view_of({job}), false), HasSubstr("has ended\n"));
    job.told = true;
    EXPECT_EQ(plain_text(view_of({job}), false), "");
    EXPECT_EQ(json_lines(view_of({job})), "");
}

TEST(JsonLines, HaveAnObjectForEachJob) {
    TopJob job = running_job();
    job.events = {lost_event()};
    const std::string text = json_lines(view_of({job, waiting_job()}));
    std::istringstream lines(text);
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto seq = nlohmann::json::parse(line);
    EXPECT_EQ(seq["job"], "seq");
    EXPECT_EQ(seq["standing"], "running");
    EXPECT_EQ(seq["setting"], "path:a");
    EXPECT_EQ(seq["policy"], "numa");
    EXPECT_EQ(seq["cause"], "command");
    EXPECT_EQ(seq["interval_ns"], 500'000'000);
    EXPECT_EQ(seq["paths"][0]["operations"]["read"]["ios"], 500);
    EXPECT_EQ(seq["paths"][0]["operations"]["read"]["p99_ns"], 150'000);
    EXPECT_TRUE(seq["paths"][0]["operations"]["write"].is_null());
    EXPECT_EQ(seq["paths"][1]["enabled"], false);
    EXPECT_EQ(seq["paths"][1]["state"], "non-optimized");
    EXPECT_EQ(seq["events"][0]["kind"], "lost");
    EXPECT_EQ(seq["events"][0]["path"], "b");
    ASSERT_TRUE(std::getline(lines, line));
    const auto late = nlohmann::json::parse(line);
    EXPECT_EQ(late["standing"], "prepared");
    EXPECT_TRUE(late["interval_ns"].is_null());
    EXPECT_TRUE(late["paths"][0]["operations"].is_null()) << "absent is not zero";
    EXPECT_TRUE(late["visit"].is_null());
}

} // namespace
} // namespace mpath::cli
