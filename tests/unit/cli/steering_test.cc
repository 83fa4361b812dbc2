// SPDX-License-Identifier: GPL-2.0-only
#include "cli/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/setting_request.h"
#include "running_fio.h"

namespace mpath::cli {
namespace {

using testing::HasSubstr;

Order policy(const std::string& name) {
    return {Order::What::policy, name, {}, false};
}
Order enable(const std::string& path) {
    return {Order::What::enable, "", {path}, false};
}
Order disable(const std::string& path) {
    return {Order::What::disable, "", {path}, false};
}
Order schedule() {
    return {Order::What::schedule, "", {}, false};
}
Order named(Order order) {
    order.jobs_named = true;
    return order;
}

class SteeringTest : public testing::Test {
protected:
    live::JobSlot& add(const live::JobDescription& job) {
        own_block_.add_job(job).value();
        return *block_.jobs().back();
    }
    live::JobSlot& add_running(const live::JobDescription& job) {
        live::JobSlot& slot = add(job);
        start_job(slot);
        return slot;
    }
    Result<Steering> begin(const Order& order) {
        return Steering::begin(block_, block_.jobs(), order, clock_);
    }
    std::string refusal(const Order& order) {
        const auto steering = begin(order);
        EXPECT_FALSE(steering);
        return steering ? "" : steering.error().text;
    }
    /// Asks, lets every job that runs follow, and tells the lines.
    std::vector<std::string> carry_out(const Order& order) {
        auto steering = begin(order);
        EXPECT_TRUE(steering) << steering.error().text;
        for (live::JobSlot* job : block_.jobs()) {
            if (job->phase.get() == static_cast<std::uint64_t>(live::JobPhase::running)) {
                follow(*job, clock_.now() + 2 * kMillisecond);
            }
        }
        EXPECT_TRUE(steering->look(clock_));
        std::vector<std::string> lines;
        for (const Steering::Job& job : steering->jobs()) {
            lines.push_back(outcome_line(job, 0));
        }
        return lines;
    }

    live::TemporaryDirectory directory_;
    live::ControlBlock own_block_ = std::move(live::ControlBlock::create(directory_.path()).value());
    live::RunningBlock block_ =
        std::move(live::RunningBlock::open(
                      live::find_running_blocks(directory_.path(), live::this_process().value()).at(0))
                      .value());
    FakeClock clock_{100 * kSecond};
};

using Lines = std::vector<std::string>;

TEST_F(SteeringTest, SwitchesPolicyAndTellsHowLongItTook) {
    const live::JobSlot& job = add_running(job_with("seq", 1));
    EXPECT_EQ(carry_out(policy("queue-depth")), Lines{"seq: round-robin -> queue-depth, followed in 2.00ms"});
    EXPECT_EQ(job.settings[job.setting_in_force.get()].policy.get(), "queue-depth");
    EXPECT_EQ(carry_out(policy("queue-depth")), Lines{"seq: stays in queue-depth, followed in 2.00ms"});
    EXPECT_EQ(carry_out(policy("round-robin")), Lines{"seq: queue-depth -> round-robin, followed in 2.00ms"});
    EXPECT_EQ(job.settings_named.get(), 3U) << "the first setting, the transition, and queue-depth";
}

TEST_F(SteeringTest, TakesPathsOutAndInAndKeepsThePolicy) {
    const live::JobSlot& job = add_running(job_with("seq", 1, {"a", "b", "c"}));
    EXPECT_EQ(carry_out(disable("b")), Lines{"seq: round-robin -> round-robin/path:a+c, followed in 2.00ms"});
    EXPECT_EQ(job.settings[job.setting_in_force.get()].paths.get(), 0b101U);
    EXPECT_EQ(carry_out(policy("numa")),
              Lines{"seq: round-robin/path:a+c -> numa/path:a+c, followed in 2.00ms"});
    EXPECT_EQ(carry_out(disable("2")), Lines{"seq: numa/path:a+c -> path:a, followed in 2.00ms"})
        << "by place";
    EXPECT_EQ(carry_out(policy("round-robin")),
              Lines{"seq: path:a -> round-robin/path:a, followed in 2.00ms"})
        << "another setting, so another name";
    EXPECT_EQ(carry_out(enable("b")),
              Lines{"seq: round-robin/path:a -> round-robin/path:a+b, followed in 2.00ms"});
    EXPECT_EQ(carry_out(enable("c")), Lines{"seq: round-robin/path:a+b -> round-robin, followed in 2.00ms"});
}

TEST_F(SteeringTest, RefusesToTakeTheLastPathOut) {
    const live::JobSlot& job = add_running(job_with("seq", 1));
    carry_out(disable("a"));
    EXPECT_EQ(refusal(disable("b")),
              "job seq: path b is the last that it may use; enable another path first");
    EXPECT_EQ(job.mailbox.requested.get(), 1U);
    EXPECT_THAT(refusal({Order::What::disable, "", {"a", "b"}, false}), HasSubstr("paths a, b are the last"));
}

TEST_F(SteeringTest, AsksAllJobsOrNone) {
    const live::JobSlot& first = add_running(job_with("first", 1));
    add_running(job_with("second", 2, {"x"}));
    EXPECT_THAT(refusal(policy("preferred:a")), HasSubstr("job second: iopolicy=preferred:a"));
    EXPECT_THAT(refusal(policy("best")), HasSubstr("job first: iopolicy=best is not a policy"));
    EXPECT_EQ(first.mailbox.requested.get(), 0U);
    EXPECT_EQ(first.settings_named.get(), 2U);
}

TEST_F(SteeringTest, LeavesJobsAloneThatDoNotUseThePathUnlessTheyAreNamed) {
    add_running(job_with("both", 1));
    const live::JobSlot& other = add_running(job_with("other", 2, {"x", "y"}));
    EXPECT_EQ(carry_out(disable("a")), (Lines{"both: round-robin -> path:b, followed in 2.00ms",
                                              "other: left alone, it does not use path a"}));
    EXPECT_EQ(other.mailbox.requested.get(), 0U);
    EXPECT_EQ(refusal(named(enable("a"))), "job other: it does not use a path 'a'; its paths are x, y");
    EXPECT_EQ(refusal(enable("z")), "no job uses a path 'z'; the paths of both are a, b");
}

TEST_F(SteeringTest, GoesBackToTheSchedule) {
    live::JobDescription steered = job_with("steered", 1);
    steered.settings = {{"numa", "numa"}, {"latency", "latency"}};
    steered.steered = true;
    add_running(steered);
    add_running(job_with("plain", 2));
    carry_out(policy("queue-depth"));
    EXPECT_EQ(carry_out(schedule()), (Lines{"steered: queue-depth -> its schedule, followed in 2.00ms",
                                            "plain: left alone, it has no schedule"}));
    EXPECT_EQ(refusal(named(schedule())), "job plain: it has no schedule (steer=) to go back to");
}

TEST_F(SteeringTest, ThatNoJobHasAScheduleIsSaid) {
    add_running(job_with("plain", 1));
    EXPECT_EQ(refusal(schedule()), "no job has a schedule (steer=) to go back to");
}

TEST_F(SteeringTest, AJobThatHasNotStartedBeginsWithWhatItWasAskedForLast) {
    live::JobSlot& job = add(job_with("late", 1));
    EXPECT_EQ(carry_out(policy("numa")), Lines{"late: has not started: begins with numa"});
    EXPECT_EQ(carry_out(disable("b")), Lines{"late: has not started: begins with path:a"});
    EXPECT_EQ(job.mailbox.requested.get(), 2U);
    const live::SettingSlot& asked = job.settings[job.mailbox.setting.get()];
    EXPECT_EQ(asked.policy.get(), "numa") << "one request builds on the other";
    EXPECT_EQ(asked.paths.get(), 0b01U);
}

TEST_F(SteeringTest, AJobThatSleepsIsNamed) {
    add_running(job_with("slow", 1));
    auto steering = begin(policy("numa"));
    EXPECT_FALSE(steering->look(clock_));
    EXPECT_EQ(
        outcome_line(steering->jobs()[0], 10 * kSecond),
        "slow: has not followed within 10.0s: asleep (thinktime= or rate=); it goes to numa with its next "
        "I/O");
}

TEST_F(SteeringTest, AJobThatIsGoneIsNotWaitedFor) {
    live::JobSlot& killed = add_running(job_with("killed", 1));
    live::JobSlot& ended = add_running(job_with("ended", 2));
    auto steering = begin(policy("numa"));
    kill_job(killed);
    end_job(ended);
    EXPECT_TRUE(steering->look(clock_));
    EXPECT_EQ(outcome_line(steering->jobs()[0], 0),
              fmt::format("killed: was killed: its process {} is gone", killed.pid.get()));
    EXPECT_EQ(outcome_line(steering->jobs()[1], 0), "ended: ended before it followed");
    EXPECT_THAT(refusal(policy("numa")), HasSubstr("there is nobody to ask: killed: was killed"));
}

TEST_F(SteeringTest, ARefusalAndAnotherCommandInBetweenAreTold) {
    live::JobSlot& first = add_running(job_with("first", 1));
    live::JobSlot& second = add_running(job_with("second", 2));
    auto steering = begin(policy("numa"));
    follow(first, clock_.now(), EINVAL);
    live::ask(second, live::kFirstSetting, clock_.now());
    follow(second, clock_.now());
    EXPECT_TRUE(steering->look(clock_));
    EXPECT_EQ(outcome_line(steering->jobs()[0], 0), "first: refused to go to numa: Invalid argument");
    EXPECT_EQ(outcome_line(steering->jobs()[1], 0),
              "second: another command came in between; it is in round-robin");
}

TEST_F(SteeringTest, PathsBeyondAWordCanNotBeToldApart) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < kSubsetPaths + 1; ++i) {
        paths.push_back("p" + std::to_string(i));
    }
    add_running(job_with("wide", 1, paths));
    EXPECT_EQ(refusal(disable("p1")),
              "job wide: it has 65 paths, and only of 64 at most they can be enabled and disabled");
    EXPECT_EQ(carry_out(policy("numa")), Lines{"wide: round-robin -> numa, followed in 2.00ms"});
}

} // namespace
} // namespace mpath::cli
