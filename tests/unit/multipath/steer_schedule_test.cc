// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/steer_schedule.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::multipath {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kPaths{"a", "b", "c"};
const Setting kBase{"round-robin", kAllPaths};

Result<SteerSchedule> parse(std::string_view text, SteerOrder order = SteerOrder::abba) {
    return parse_steer(text, order, 100 * kMillisecond, kBase, kPaths);
}

/// The settings visited in `passes` passes, by name.
std::vector<std::string> visited(const SteerSchedule& schedule, int passes) {
    std::vector<std::string> names;
    for (Nanoseconds time = 0; time < passes * schedule.unit_length();) {
        const SteerStop stop = schedule.at(time);
        EXPECT_EQ(stop.begin, time);
        EXPECT_EQ(stop.unit, time / schedule.unit_length());
        EXPECT_EQ(schedule.at(stop.end - 1), stop);
        names.push_back(to_string(schedule.settings[stop.setting], kPaths));
        time = stop.end;
    }
    return names;
}

TEST(Setting, IsAPolicyASubsetOfPathsOrBoth) {
    const struct {
        const char* text;
        Setting setting;
        const char* name;
    } table[] = {
        {"queue-depth", {"queue-depth", kAllPaths}, "queue-depth"},
        {"path:b", {"round-robin", 0b010}, "path:b"},
        {"path:a+c", {"round-robin", 0b101}, "round-robin/path:a+c"},
        {"numa/path:a+c", {"numa", 0b101}, "numa/path:a+c"},
        {"path:c+a/numa", {"numa", 0b101}, "numa/path:a+c"},
        {"path:1", {"round-robin", 0b010}, "path:b"},
        {"path:a+b+c", {"round-robin", kAllPaths}, "round-robin"},
        {"preferred:b", {"preferred:b", kAllPaths}, "preferred:b"},
    };
    for (const auto& row : table) {
        const auto setting = parse_setting(row.text, kBase, kPaths);
        ASSERT_TRUE(setting) << row.text << ": " << setting.error().text;
        EXPECT_EQ(*setting, row.setting) << row.text;
        EXPECT_EQ(to_string(*setting, kPaths), row.name);
    }
}

TEST(Setting, SaysWhatIsWrongWithIt) {
    const std::pair<const char*, const char*> table[] = {
        {"fastest", "iopolicy=fastest is not a policy"},
        {"path:d", "'d' is not one of the job's paths; they are a, b, c"},
        {"path:3", "'3' is not one of the job's paths"},
        {"path:", "'' is not one of the job's paths"},
        {"numa/queue-depth", "names a policy twice"},
        {"path:a/path:b", "names paths twice"},
        {"preferred:d", "names none of the job's paths"},
    };
    for (const auto& [text, sentence] : table) {
        const auto setting = parse_setting(text, kBase, kPaths);
        ASSERT_FALSE(setting) << text;
        EXPECT_THAT(setting.error().text, HasSubstr(sentence));
    }
}

TEST(SteerSchedule, GoesThereAndBackUnlessToldOtherwise) {
    const auto schedule = parse("numa@1s,queue-depth@2s, path:a@500ms");
    ASSERT_TRUE(schedule) << schedule.error().text;
    EXPECT_THAT(visited(*schedule, 2),
                ElementsAre("numa", "queue-depth", "path:a", "path:a", "queue-depth", "numa", //
                            "numa", "queue-depth", "path:a", "path:a", "queue-depth", "numa"));
    EXPECT_EQ(schedule->unit_length(), 7 * kSecond);
}

TEST(SteerSchedule, CyclesForwards) {
    const auto schedule = parse("numa@1s,queue-depth@2s", SteerOrder::cycle);
    ASSERT_TRUE(schedule);
    EXPECT_THAT(visited(*schedule, 2), ElementsAre("numa", "queue-depth", "numa", "queue-depth"));
}

TEST(SteerSchedule, ShufflesEachPassTheSameWayForTheSameSeed) {
    auto schedule = parse("numa@1s,queue-depth@1s,path:a@1s,path:b@1s,path:c@1s", SteerOrder::shuffle);
    ASSERT_TRUE(schedule);
    std::set<std::vector<std::string>> orders;
    for (schedule->seed = 1; schedule->seed <= 5; ++schedule->seed) {
        const auto names = visited(*schedule, 4);
        EXPECT_EQ(visited(*schedule, 4), names);
        for (auto pass = names.begin(); pass != names.end(); pass += 5) {
            std::vector<std::string> order(pass, pass + 5);
            orders.insert(order);
            std::sort(order.begin(), order.end());
            EXPECT_THAT(order, ElementsAre("numa", "path:a", "path:b", "path:c", "queue-depth"));
        }
    }
    EXPECT_GT(orders.size(), 10U); // of 20 passes; 120 orders are possible
}

TEST(SteerSchedule, KeepsEachSettingOnce) {
    const auto schedule = parse("numa@1s,path:a@1s,numa@2s,path:a@3s");
    ASSERT_TRUE(schedule);
    EXPECT_EQ(schedule->settings.size(), 2U);
    EXPECT_EQ(schedule->steps.size(), 4U);
}

TEST(SteerSchedule, SaysWhatIsWrongWithIt) {
    const std::pair<const char*, const char*> table[] = {
        {"numa", "'numa' is not SETTING@DURATION"},
        {"numa@", "'' is not a duration"},
        {"numa@10", "'10' is not a duration"},
        {"numa@1s,", "'' is not SETTING@DURATION"},
        {"numa@1s,best@1s", "iopolicy=best is not a policy"},
        {"numa@100ms", "nothing of 'numa@100ms' is left"},
        {"numa@0", "nothing of 'numa@0' is left"},
    };
    for (const auto& [text, sentence] : table) {
        const auto schedule = parse(text);
        ASSERT_FALSE(schedule) << text;
        EXPECT_THAT(schedule.error().text, HasSubstr(sentence));
        EXPECT_THAT(schedule.error().text, HasSubstr("steer="));
    }
}

} // namespace
} // namespace mpath::multipath
