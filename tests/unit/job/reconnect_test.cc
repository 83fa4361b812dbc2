// SPDX-License-Identifier: GPL-2.0-only
// When a lost path is tried again, when its I/O fails, when it is given up: to the second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/job/association_fixture.h"

namespace mpath::job::test {
namespace {

/// Seconds after the loss.
struct Timetable {
    const char* name;
    std::uint64_t reconnect_delay;
    std::optional<std::uint64_t> ctrl_loss_tmo;
    std::optional<std::uint64_t> fast_io_fail_tmo;
    std::uint64_t attempt_takes; ///< and fails
    std::vector<std::uint64_t> attempts;
    std::optional<std::uint64_t> failing;
    std::optional<std::uint64_t> gone;
};

class Timetables : public AssociationTest, public testing::WithParamInterface<Timetable> {};

TEST_P(Timetables, are_kept_to_the_second) {
    const Timetable& row = GetParam();
    life_.reconnect_delay = row.reconnect_delay * kSecond;
    life_.ctrl_loss_tmo.reset();
    if (row.ctrl_loss_tmo) {
        life_.ctrl_loss_tmo = *row.ctrl_loss_tmo * kSecond;
    }
    if (row.fast_io_fail_tmo) {
        life_.fast_io_fail_tmo = *row.fast_io_fail_tmo * kSecond;
    }
    start_and_lose({{row.attempt_takes * kSecond, kNobodyThere}});
    std::optional<std::uint64_t> failing;
    std::optional<std::uint64_t> gone;
    for (std::uint64_t second = 0; second <= 100; ++second) {
        run_to(second);
        if (life() == "failing" && !failing) {
            failing = second;
        }
        if (life() == "gone" && !gone) {
            gone = second;
        }
    }
    EXPECT_EQ(attempts(), row.attempts);
    EXPECT_EQ(failing, row.failing);
    EXPECT_EQ(gone, row.gone);
}

constexpr auto kOff = std::nullopt;
INSTANTIATE_TEST_SUITE_P(
    Rows, Timetables,
    testing::Values(Timetable{"delay_10_loss_30", 10, 30, kOff, 0, {10, 20, 30}, kOff, 30},
                    Timetable{"loss_rounded_up", 4, 10, kOff, 0, {4, 8, 12}, kOff, 12},
                    Timetable{"loss_below_the_delay", 10, 3, kOff, 0, {10}, kOff, 10},
                    Timetable{"loss_0", 10, 0, kOff, 0, {}, kOff, 0},
                    Timetable{"loss_0_and_fast_fail", 10, 0, 5, 0, {}, kOff, 0},
                    Timetable{"for_ever", 25, kOff, kOff, 0, {25, 50, 75, 100}, kOff, kOff},
                    Timetable{"fast_fail_between", 10, 30, 15, 0, {10, 20, 30}, 15, 30},
                    Timetable{"fast_fail_at_once", 10, 30, 0, 0, {10, 20, 30}, 0, 30},
                    Timetable{"fast_fail_for_ever", 30, kOff, 50, 0, {30, 60, 90}, 50, kOff},
                    Timetable{"fast_fail_after_the_end", 10, 20, 60, 0, {10, 20}, kOff, 20},
                    Timetable{"attempts_that_hang", 10, 60, kOff, 10, {10, 30, 50}, kOff, 60},
                    Timetable{"fast_fail_during_an_attempt", 10, 30, 12, 7, {10, 27}, 12, 34}),
    [](const auto& row) { return row.param.name; });

} // namespace
} // namespace mpath::job::test
