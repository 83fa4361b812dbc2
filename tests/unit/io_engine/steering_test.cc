// SPDX-License-Identifier: GPL-2.0-only
// Which setting a job is in, and in which visit its I/O counts.
#include <algorithm>
#include <random>

#include "tests/unit/io_engine/engine_fixture.h"

namespace mpath::job::test {
namespace {

constexpr auto kRead = static_cast<std::size_t>(Operation::read);
constexpr Nanoseconds kVisit = 10 * kSecond;

multipath::SteerSchedule two_policies() {
    return *multipath::parse_steer("round-robin@10s,numa@10s", multipath::SteerOrder::cycle,
                                   multipath::kDefaultSettle, {"round-robin"}, {});
}

class EngineSteering : public IoEngineTest {
protected:
    void open_steered(std::size_t others = 0) {
        const multipath::SteerSchedule schedule = two_policies();
        open(2, {.iodepth = kDepth, .interval = kInterval}, &schedule, others);
    }
    /// What a command from outside needs, as live/setting_request.h prepares it.
    void prepare_commands() {
        slot_->settings[2].name.set("numa");
        slot_->settings[2].policy.set("numa");
        slot_->settings[2].paths.set(kAllPaths);
        slot_->settings_named.set_release(3);
        slot_->transition_kept.set(1);
    }
    void ask(std::uint64_t setting) {
        slot_->mailbox.setting.set(setting);
        slot_->mailbox.requested_at.set(clock_.now());
        slot_->mailbox.requested.set_release(slot_->mailbox.requested.get() + 1);
    }
    [[nodiscard]] bool followed() const {
        return slot_->mailbox.acknowledged.get() == slot_->mailbox.requested.get();
    }
    void complete_all() {
        for (FakePath* path : paths_) {
            path->complete_sent();
        }
    }
    /// One read from queue() to account().
    void do_io(std::uint32_t index = 0) {
        queue(index);
        finish(1);
    }
    void finish(std::uint32_t count) {
        reactor_.during_run = [this] { complete_all(); };
        ASSERT_EQ(engine_->getevents(count, kDepth), count);
        for (std::uint32_t i = 0; i < count; ++i) {
            engine_->account(engine_->event(i).index);
        }
        reactor_.during_run = {};
    }
    [[nodiscard]] const live::VisitSlot& visit(std::uint64_t number) const {
        return *slot_->visits.find(number);
    }
    static std::uint64_t count(const live::VisitPart& part) { return part.operations[kRead].count.get(); }
    [[nodiscard]] std::string_view policy() const { return engine_->paths().policy().name(); }
    [[nodiscard]] std::uint64_t on_paths() const {
        std::uint64_t sum = 0;
        for (std::size_t path = 0; path < slot_->path_count; ++path) {
            for (std::uint64_t setting = 0; setting < slot_->settings_named.get(); ++setting) {
                sum += slot_->keeps(setting)
                           ? slot_->operations(path, setting).of(Operation::read).moments.count.get()
                           : 0;
            }
        }
        return sum;
    }
};

TEST_F(EngineSteering, AJobWithoutAScheduleHasOneVisitAndNoTransition) {
    open(2);
    engine_->set_accounting(true);
    do_io();
    EXPECT_EQ(slot_->visits.last(), 1U);
    EXPECT_EQ(count(visit(1).steady), 1U);
    EXPECT_EQ(count(visit(1).transition), 0U);
    EXPECT_EQ(slot_->settings[live::kFirstSetting].name.get(), "round-robin");
}

TEST_F(EngineSteering, FollowsItsScheduleFromTheEndOfTheRampOn) {
    open_steered();
    clock_.advance(3 * kSecond); // the ramp
    do_io();
    engine_->set_accounting(true);
    const Nanoseconds began = clock_.now();
    const char* const policies[] = {"round-robin", "numa", "round-robin", "numa"};
    for (std::uint64_t stop = 0; stop < 4; ++stop) {
        do_io();
        EXPECT_EQ(policy(), policies[stop]) << stop;
        EXPECT_EQ(visit(slot_->visits.last()).asked.get(), began + stop * kVisit);
        EXPECT_EQ(visit(slot_->visits.last()).unit.get(), stop / 2);
        clock_.advance(kVisit);
    }
}

TEST_F(EngineSteering, SkipsVisitsThatPassedWhileTheJobSlept) {
    open_steered();
    engine_->set_accounting(true);
    do_io();
    const std::uint64_t before = slot_->visits.last();
    clock_.advance(3 * kVisit + kSecond);
    do_io();
    EXPECT_EQ(slot_->visits.last(), before + 1);
    EXPECT_EQ(policy(), "numa");
}

TEST_F(EngineSteering, AnIoBelongsToTheVisitInWhichItWasSubmitted) {
    open_steered();
    engine_->set_accounting(true);
    do_io();
    clock_.advance(kSecond);
    do_io(); // by now it has settled
    const std::uint64_t first = slot_->visits.last();
    queue(1);
    queue(2);
    clock_.advance(kVisit);
    queue(3); // goes to the next visit
    ASSERT_EQ(slot_->visits.last(), first + 1);
    finish(3);
    EXPECT_EQ(count(visit(first).steady), 3U);
    EXPECT_EQ(count(visit(first + 1).transition), 1U);
    EXPECT_EQ(count(visit(first + 1).steady), 0U);
    EXPECT_EQ(visit(first).open.get(), 0U);
}

TEST_F(EngineSteering, ATransitionLastsUntilEarlierIoIsBackAndItsTimeIsOver) {
    open_steered();
    engine_->set_accounting(true);
    do_io();
    queue(1); // outstanding over the switch
    clock_.advance(kVisit);
    queue(2);
    const std::uint64_t number = slot_->visits.last();
    clock_.advance(2 * multipath::kDefaultSettle);
    queue(3);
    EXPECT_EQ(visit(number).settled.get(), 0U) << "I/O of the visit before is outstanding";
    finish(3);
    queue(4);
    EXPECT_EQ(visit(number).settled.get(), clock_.now());
    finish(1);
    EXPECT_EQ(count(visit(number).transition), 2U);
    EXPECT_EQ(count(visit(number).steady), 1U);
}

TEST_F(EngineSteering, FollowsARequestAtTheNextCallAndSaysSo) {
    open(2);
    engine_->set_accounting(true);
    prepare_commands();
    do_io();
    ask(2);
    EXPECT_FALSE(followed());
    clock_.advance(kMillisecond);
    do_io();
    EXPECT_TRUE(followed());
    EXPECT_EQ(slot_->mailbox.refused.get(), 0U);
    EXPECT_EQ(policy(), "numa");
    EXPECT_EQ(slot_->setting_in_force.get(), 2U);
    EXPECT_EQ(slot_->counters.switch_delay.moments.count.get(), 1U);
    EXPECT_GE(slot_->counters.switch_delay.moments.sum.get(), kMillisecond);
}

TEST_F(EngineSteering, ARequestThatIsNewerThanTheClockReadingTookNoTime) {
    open(2);
    engine_->set_accounting(true);
    prepare_commands();
    ask(2);
    slot_->mailbox.requested_at.set(clock_.now() + 50);
    do_io();
    EXPECT_EQ(visit(2).asked.get(), visit(2).began.get());
    EXPECT_EQ(slot_->counters.switch_delay.moments.snapshot().max, 0U);
}

TEST_F(EngineSteering, AcknowledgesWhileItWaitsForIo) {
    open(2);
    engine_->set_accounting(true);
    prepare_commands();
    queue(0);
    reactor_.during_run = [this] {
        if (slot_->mailbox.requested.get() == 0) {
            ask(2);
        } else if (followed()) {
            complete_all();
        }
    };
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_TRUE(followed());
}

TEST_F(EngineSteering, RefusesWhatHasNoNameOrNoMemory) {
    open(2);
    engine_->set_accounting(true);
    for (const std::uint64_t setting : {std::uint64_t{1}, std::uint64_t{2}, live::kFollowSchedule}) {
        ask(setting);
        do_io();
        EXPECT_TRUE(followed());
        EXPECT_NE(slot_->mailbox.refused.get(), 0U) << setting;
    }
    EXPECT_EQ(slot_->visits.last(), 1U);
    EXPECT_EQ(policy(), "round-robin");
}

TEST_F(EngineSteering, ARequestSuspendsTheScheduleUntilItIsToBeFollowedAgain) {
    open_steered();
    engine_->set_accounting(true);
    do_io();
    ask(2); // numa
    do_io();
    clock_.advance(2 * kVisit + kSecond);
    do_io();
    EXPECT_EQ(policy(), "numa");
    ask(live::kFollowSchedule);
    do_io();
    EXPECT_TRUE(followed());
    EXPECT_EQ(policy(), "round-robin");
    EXPECT_EQ(static_cast<record::VisitCause>(visit(slot_->visits.last()).cause.get()),
              record::VisitCause::schedule);
}

TEST_F(EngineSteering, ASubsetTakesNoIoToOtherPaths) {
    open(2);
    engine_->set_accounting(true);
    prepare_commands();
    slot_->settings[2].paths.set(0b10);
    ask(2);
    for (std::uint32_t i = 0; i < 6; ++i) {
        queue(i);
    }
    EXPECT_EQ(paths_[0]->held.size(), 0U);
    EXPECT_EQ(paths_[1]->held.size(), 6U);
    finish(6);
}

TEST_F(EngineSteering, APathEventDisturbsItsVisit) {
    open_steered();
    engine_->set_accounting(true);
    do_io();
    const std::uint64_t number = slot_->visits.last();
    EXPECT_EQ(visit(number).disturbances.get(), 0U);
    paths_[0]->path_state = PathState::optimized;
    news_->set_state(0, PathState::inaccessible);
    do_io();
    EXPECT_EQ(visit(number).disturbances.get(), 1U);
    EXPECT_EQ(slot_->settings[live::kFirstSetting].disturbed_visits.get(), 1U);
}

TEST_F(EngineSteering, TheClockBeginsWhenTheLastRampIsOver) {
    open_steered(1);
    engine_->set_accounting(true);
    do_io();
    clock_.advance(3 * kSecond);
    do_io();
    EXPECT_EQ(slot_->visits.last(), 1U);
    EXPECT_EQ(count(visit(1).transition), 2U) << "before the clock began it is no visit of the schedule";
    block_->slots()[1]->counters.measuring_since.set(clock_.now());
    clock_.advance(10 * kMillisecond);
    do_io();
    EXPECT_EQ(slot_->clock_began.get(), visit(2).began.get());
    EXPECT_EQ(policy(), "round-robin");
}

TEST_F(EngineSteering, WaitsOnlySoLongForOthers) {
    open_steered(1);
    engine_->set_accounting(true);
    do_io();
    clock_.advance(kStartPatience);
    do_io();
    EXPECT_NE(slot_->clock_began.get(), 0U);
    EXPECT_EQ(slot_->visits.last(), 2U);
}

TEST_F(EngineSteering, DoesNotWaitForThoseThatComeLaterOrHaveEnded) {
    open_steered(2);
    block_->slots()[1]->start_delay.set(5 * kSecond);
    block_->slots()[2]->phase.set(static_cast<std::uint64_t>(live::JobPhase::ended));
    engine_->set_accounting(true);
    do_io();
    EXPECT_NE(slot_->clock_began.get(), 0U);
}

TEST_F(EngineSteering, VisitsTransitionsAndWhatIsFoldedAddUp) {
    open(2);
    engine_->set_accounting(true);
    prepare_commands();
    std::minstd_rand chance(7);
    std::uint64_t done = 0;
    std::vector<bool> busy(kDepth);
    reactor_.during_run = [&] {
        for (FakePath* path : paths_) {
            for (std::size_t left = chance() % (path->ready + 1); left > 0; --left) {
                path->complete();
            }
        }
    };
    std::uint32_t outstanding = 0;
    for (int step = 0; step < 20'000; ++step) {
        clock_.advance(chance() % (20 * kMillisecond));
        if (chance() % 20 == 0) {
            ask(chance() % 2 * 2);
        }
        for (std::uint32_t i = 0; i < kDepth; ++i) {
            if (!busy[i] && chance() % 4 == 0) {
                busy[i] = true;
                ++outstanding;
                queue(i);
            }
        }
        const std::uint32_t got = outstanding > 0 ? engine_->getevents(0, kDepth) : 0;
        for (std::uint32_t i = 0; i < got; ++i) {
            busy[engine_->event(i).index] = false;
            --outstanding;
            engine_->account(engine_->event(i).index);
            ++done;
        }
    }
    EXPECT_GT(slot_->visits.last(), 2 * live::VisitLog::kCapacity);
    EXPECT_GT(slot_->visits.folded().visits.get(), 0U);
    EXPECT_EQ(slot_->visits.totals()[kRead].count, done);
    EXPECT_EQ(on_paths(), done);
    ask(0); // ends the visit, so that its open I/Os are told
    queue(static_cast<std::uint32_t>(std::find(busy.begin(), busy.end(), false) - busy.begin()));
    std::uint64_t open = 0;
    for (std::uint64_t number = 1; number < slot_->visits.last(); ++number) {
        open += slot_->visits.find(number) != nullptr ? visit(number).open.get() : 0;
    }
    EXPECT_EQ(open, outstanding);
}

} // namespace
} // namespace mpath::job::test
