// SPDX-License-Identifier: GPL-2.0-only
// What happened stands in the path log between the intervals it happened in.
#include "job/path_recorder.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steered_slot.h"

namespace mpath::job {
namespace {

using testing::ElementsAre;

constexpr std::size_t kLogEnd = 33; ///< columns

class PathRecorderTest : public testing::Test {
protected:
    static record::Interval interval(Nanoseconds end, const char* setting) {
        record::Interval made;
        made.utc = end;
        made.monotonic = SteeredSlot::kBegan + end;
        made.length = kSecond;
        made.setting = setting;
        made.paths.emplace_back().name = "p0";
        return made;
    }
    void event(Nanoseconds at, const char* text) {
        steered_.slot().events.add(SteeredSlot::kBegan + at, 0, 0, record::EventKind::state, text);
    }
    /// "milliseconds what setting from delay text" of each row.
    [[nodiscard]] std::vector<std::string> rows() const {
        std::ifstream file(steered_.file("log"));
        std::vector<std::string> found;
        std::string line;
        std::getline(file, line);
        while (std::getline(file, line)) {
            std::vector<std::string> cells;
            std::istringstream text(line + ",");
            for (std::string cell; std::getline(text, cell, ',');) {
                cells.push_back(cell);
            }
            EXPECT_EQ(cells.size(), kLogEnd) << line;
            cells.resize(kLogEnd);
            found.push_back(cells[0] + " " + cells[2] + " " + cells[4] + " " + cells[29] + " " + cells[31] +
                            " " + cells[32]);
        }
        return found;
    }

    SteeredSlot steered_;
    PathRecorder recorder_ = PathRecorder::create(steered_.file("log"), steered_.slot()).value();
};

TEST_F(PathRecorderTest, TellsSwitchesAndEventsBetweenTheIntervals) {
    steered_.begin_measuring();
    event(0, "at first");
    steered_.visit(0, 0, record::VisitCause::start);
    ASSERT_TRUE(recorder_.add(interval(kSecond, "numa")));
    EXPECT_THAT(rows(), testing::IsEmpty()) << "what belongs before it may still come";
    steered_.visit(2, kSecond + 500 * kMillisecond);
    event(kSecond - 1, "known late");
    ASSERT_TRUE(recorder_.add(interval(2 * kSecond, "queue-depth")));
    EXPECT_THAT(rows(), ElementsAre("0.000 event    at first", "1000.000 event    known late",
                                    "1000.000 interval numa   "));
    steered_.visit(0, 2 * kSecond + 1, record::VisitCause::command);
    event(2 * kSecond + 2, "at last");
    ASSERT_TRUE(recorder_.finish());
    const auto all = rows();
    EXPECT_THAT(std::vector(all.begin() + 3, all.end()),
                ElementsAre("1500.000 switch queue-depth numa 120 ", "2000.000 interval queue-depth   ",
                            "2000.000 switch numa queue-depth 120 ", "2000.000 event    at last"));
}

TEST_F(PathRecorderTest, DoesNotSayWhereASwitchCameFromWhenNobodyKnows) {
    steered_.begin_measuring();
    for (std::uint64_t number = 0; number <= live::VisitLog::kCapacity; ++number) {
        steered_.visit(number % 2 == 0 ? 0 : 2, number + 1);
    }
    ASSERT_TRUE(recorder_.add(interval(kSecond, "numa")));
    ASSERT_TRUE(recorder_.finish());
    const auto all = rows();
    ASSERT_EQ(all.size(), live::VisitLog::kCapacity + 1);
    EXPECT_EQ(all[0], "0.000 switch queue-depth  120 ");
    EXPECT_EQ(all[1], "0.000 switch numa queue-depth 120 ");
}

TEST_F(PathRecorderTest, TakesTheSettingAtTheEndOfTheRampForTheFirst) {
    steered_.visit(0, 0, record::VisitCause::start);
    steered_.visit(2, 0, record::VisitCause::command);
    steered_.slot().visits.forget();
    steered_.begin_measuring();
    steered_.visit(0, kSecond / 2, record::VisitCause::command);
    ASSERT_TRUE(recorder_.add(interval(kSecond, "numa")));
    ASSERT_TRUE(recorder_.finish());
    EXPECT_THAT(rows(), ElementsAre("500.000 switch numa queue-depth 120 ", "1000.000 interval numa   "));
}

TEST_F(PathRecorderTest, OfAJobThatMeasuredNothingHasNoRows) {
    ASSERT_TRUE(recorder_.finish());
    EXPECT_THAT(rows(), testing::IsEmpty());
}

} // namespace
} // namespace mpath::job
