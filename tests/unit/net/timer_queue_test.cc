// SPDX-License-Identifier: GPL-2.0-only
#include "net/timer_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace mpath::net {
namespace {

class TimerQueueTest : public testing::Test {
protected:
    TimerQueue::Id add(Nanoseconds after, char letter) {
        return timers_.add(clock_.now() + after, [this, letter] { fired_ += letter; });
    }
    void advance(Nanoseconds by) {
        clock_.advance(by);
        timers_.run_due(clock_.now());
    }

    FakeClock clock_;
    TimerQueue timers_;
    std::string fired_;
};

TEST_F(TimerQueueTest, RunsWhatIsDueInTheOrderOfDeadlines) {
    add(30, 'c');
    add(10, 'a');
    add(20, 'b');
    advance(9);
    EXPECT_EQ(fired_, "");
    advance(11);
    EXPECT_EQ(fired_, "ab");
    advance(100);
    EXPECT_EQ(fired_, "abc");
}

TEST_F(TimerQueueTest, RunsEqualDeadlinesInTheOrderTheyWereAdded) {
    add(10, 'x');
    add(10, 'y');
    add(10, 'z');
    advance(10);
    EXPECT_EQ(fired_, "xyz");
}

TEST_F(TimerQueueTest, KnowsTheNextDeadline) {
    EXPECT_FALSE(timers_.next());
    add(30, 'c');
    const auto early = add(10, 'a');
    EXPECT_EQ(timers_.next(), clock_.now() + 10);
    timers_.cancel(early);
    EXPECT_EQ(timers_.next(), clock_.now() + 30);
    advance(30);
    EXPECT_FALSE(timers_.next());
}

TEST_F(TimerQueueTest, NeverRunsACancelledOne) {
    const auto id = add(10, 'a');
    add(10, 'b');
    timers_.cancel(id);
    advance(10);
    EXPECT_EQ(fired_, "b");
    timers_.cancel(id); // once more, and after the fact: nothing
}

TEST_F(TimerQueueTest, CallbackMayCancelOneThatIsDueToo) {
    TimerQueue::Id second;
    timers_.add(clock_.now() + 10, [&] {
        fired_ += 'a';
        timers_.cancel(second);
    });
    second = add(11, 'b');
    add(12, 'c');
    advance(20);
    EXPECT_EQ(fired_, "ac");
}

TEST_F(TimerQueueTest, TimerAddedAsDueByACallbackWaitsForTheNextCall) {
    timers_.add(clock_.now() + 10, [&] {
        fired_ += 'a';
        add(0, 'b');
    });
    add(10, 'c');
    advance(10);
    EXPECT_EQ(fired_, "ac") << "a callback that arms itself again can't keep the thread";
    advance(0);
    EXPECT_EQ(fired_, "acb");
}

TEST_F(TimerQueueTest, TimerAddedForLaterByACallbackKeepsItsTime) {
    timers_.add(clock_.now() + 10, [&] { add(10, 'b'); });
    advance(10);
    advance(9);
    EXPECT_EQ(fired_, "");
    advance(1);
    EXPECT_EQ(fired_, "b");
}

} // namespace
} // namespace mpath::net
