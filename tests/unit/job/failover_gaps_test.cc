// SPDX-License-Identifier: GPL-2.0-only
#include "job/failover_gaps.h"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace mpath::job::test {
namespace {

/// Two paths, 0 and 1, and events of path 0. Times are in milliseconds.
class FailoverGapsTest : public testing::Test {
protected:
    FailoverGapsTest() {
        gaps_.add_path();
        gaps_.add_path();
        gaps_.begin(at(0));
    }

    static Nanoseconds at(Nanoseconds milliseconds) { return kSecond + milliseconds * kMillisecond; }

    live::EventLog::Handle event() {
        const auto event = log_->add(kSecond, kSecond, 0, record::EventKind::lost, "lost");
        gaps_.trouble(0, event);
        return event;
    }
    /// An I/O ends well, which path 0 had given back before or not.
    void ends(std::size_t path, Nanoseconds milliseconds, bool was_away = false) {
        gaps_.note(at(milliseconds));
        if (was_away) {
            gaps_.returned(0);
        }
        gaps_.completed(path, at(milliseconds));
    }
    [[nodiscard]] record::Event told(live::EventLog::Handle event) const { return log_->events().at(event); }

    std::unique_ptr<live::EventLog> log_ = std::make_unique<live::EventLog>();
    FailoverGaps gaps_{*log_};
};

TEST_F(FailoverGapsTest, the_gap_is_the_longest_silence_until_what_was_given_back_has_ended) {
    ends(0, 1);
    ends(1, 2);
    gaps_.gave_back(0);
    const auto lost = event();
    ends(1, 12);
    ends(1, 42);
    EXPECT_EQ(told(lost).gap, std::nullopt);
    ends(1, 52, true);
    EXPECT_EQ(told(lost).gap, 30 * kMillisecond);
    EXPECT_EQ(told(lost).requeues, 1U);
}

TEST_F(FailoverGapsTest, silence_before_the_loss_was_known_is_part_of_it) {
    ends(0, 1);
    ends(1, 101);
    gaps_.gave_back(0);
    const auto lost = event();
    ends(1, 102, true);
    EXPECT_EQ(told(lost).gap, 100 * kMillisecond);
}

TEST_F(FailoverGapsTest, an_event_that_moved_nothing_has_none) {
    ends(0, 1);
    const auto lost = event();
    ends(1, 101);
    EXPECT_EQ(told(lost).gap, std::nullopt);
    EXPECT_EQ(told(lost).requeues, std::nullopt);
}

TEST_F(FailoverGapsTest, io_that_a_second_loss_finds_still_away_is_told_of_both) {
    ends(0, 1);
    gaps_.gave_back(0);
    gaps_.gave_back(0);
    const auto first = event();
    gaps_.well(0);
    const auto second = event();
    ends(1, 501, true);
    ends(1, 502, true);
    for (const auto lost : {first, second}) {
        EXPECT_EQ(told(lost).gap, 500 * kMillisecond);
        EXPECT_EQ(told(lost).requeues, 2U);
    }
}

TEST_F(FailoverGapsTest, a_path_that_came_back_before_its_io_had_ended_is_well_after_that) {
    ends(0, 1);
    gaps_.gave_back(0);
    const auto lost = event();
    gaps_.well(0);
    ends(1, 11, true);
    gaps_.gave_back(0);
    ends(1, 91, true);
    EXPECT_EQ(told(lost).gap, 10 * kMillisecond);
    EXPECT_EQ(told(lost).requeues, 1U);
}

} // namespace
} // namespace mpath::job::test
