// SPDX-License-Identifier: GPL-2.0-only
#include "job/reconnect_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::job {
namespace {

using testing::ElementsAre;
using Seconds = std::vector<std::uint64_t>;

LifeOptions tries(std::uint64_t delay, std::optional<std::uint64_t> loss_tmo) {
    LifeOptions options;
    options.reconnect_delay = delay * kSecond;
    options.ctrl_loss_tmo.reset();
    if (loss_tmo) {
        options.ctrl_loss_tmo = *loss_tmo * kSecond;
    }
    return options;
}

/// When attempts are made, in seconds after the loss; each takes `attempt` seconds and fails. 100 at most.
Seconds attempts_of(const LifeOptions& options, std::uint64_t attempt = 0) {
    constexpr Nanoseconds kLost = 1000 * kSecond;
    ReconnectSchedule schedule(options, kLost);
    Seconds attempts;
    Nanoseconds now = kLost;
    while (const auto due = schedule.next(now)) {
        attempts.push_back((*due - kLost) / kSecond);
        now = *due + attempt * kSecond;
        if (attempts.size() == 100) {
            break;
        }
    }
    return attempts;
}

TEST(ReconnectSchedule, tries_once_per_reconnect_delay_until_ctrl_loss_tmo) {
    EXPECT_THAT(attempts_of(tries(10, 30)), ElementsAre(10, 20, 30));
    EXPECT_EQ(attempts_of(tries(10, 600)).size(), 60U);
    EXPECT_EQ(attempts_of(tries(10, 600)).back(), 600U);
}

TEST(ReconnectSchedule, rounds_ctrl_loss_tmo_up_to_whole_delays) {
    EXPECT_THAT(attempts_of(tries(4, 10)), ElementsAre(4, 8, 12));
    EXPECT_THAT(attempts_of(tries(10, 1)), ElementsAre(10));
}

TEST(ReconnectSchedule, without_ctrl_loss_tmo_it_never_ends) {
    EXPECT_EQ(attempts_of(tries(1, std::nullopt)).size(), 100U);
}

TEST(ReconnectSchedule, ctrl_loss_tmo_0_allows_no_attempt) {
    EXPECT_THAT(attempts_of(tries(10, 0)), testing::IsEmpty());
}

/// A target that lets every attempt time out would otherwise keep the path for twice ctrl_loss_tmo.
TEST(ReconnectSchedule, the_time_that_attempts_take_counts) {
    EXPECT_THAT(attempts_of(tries(10, 60), 10), ElementsAre(10, 30, 50));
    EXPECT_THAT(attempts_of(tries(10, 60), 3), ElementsAre(10, 23, 36, 49, 60));
}

TEST(ReconnectSchedule, io_fails_fast_so_long_after_the_loss) {
    LifeOptions options;
    EXPECT_EQ(ReconnectSchedule(options, kSecond).failing_at(), std::nullopt);
    options.fast_io_fail_tmo = 5 * kSecond;
    EXPECT_EQ(ReconnectSchedule(options, kSecond).failing_at(), 6 * kSecond);
}

} // namespace
} // namespace mpath::job
