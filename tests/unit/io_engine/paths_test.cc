// SPDX-License-Identifier: GPL-2.0-only
// The engine where paths are lost, come back, refuse and do not answer.
#include <algorithm>

#include "tests/unit/io_engine/engine_fixture.h"
#include "tests/unit/job/fake_connection.h"

namespace mpath::job::test {
namespace {

using record::EventKind;

class EngineTrouble : public IoEngineTest {
protected:
    [[nodiscard]] const record::PathCounters& counters(std::size_t path) const {
        return slot_->path(path).counters;
    }
    [[nodiscard]] std::vector<record::Event> recorded() const { return slot_->events.events(); }
    /// The path ends by itself.
    void break_path(std::uint16_t index) {
        engine_->listener().on_path_lost(index, {ECONNRESET, "the peer closed the connection"});
        paths_[index]->close({ECONNRESET, {}});
    }
    /// The keeper has connected the path again.
    void bring_back(std::size_t path) { news_->hand_over(path, std::make_unique<FakeConnection>()); }
};

TEST_F(EngineTrouble, IoOfAPathThatTheKeeperLostIsRequeued) {
    open(2);
    queue_and_commit(0, 2);
    EXPECT_EQ(engine_->getevents(0, kDepth), 0U); // sent
    news_->set_life(1, PathLife::connecting);
    EXPECT_EQ(engine_->getevents(0, kDepth), 0U);
    ASSERT_TRUE(paths_[1]->close_reason);
    EXPECT_NE(paths_[1]->close_reason->code, 0) << "not orderly: the controller is gone";
    EXPECT_EQ(paths_[0]->held.size(), 2U);
    EXPECT_EQ(counters(1).requeues.get(), 1U);
    EXPECT_EQ(counters(1).errors[static_cast<std::size_t>(ErrorClass::path_down)].get(), 1U);
    EXPECT_EQ(counters(1).depth.outstanding.get(), 0U);
    EXPECT_EQ(counters(0).depth.outstanding.get(), 2U);
    EXPECT_FALSE(paths_[0]->close_reason);
    EXPECT_TRUE(care_.lost.empty()) << "it knows";
    reactor_.during_run = [&] { paths_[0]->complete_sent(); };
    EXPECT_EQ(engine_->getevents(2, kDepth), 2U);
    EXPECT_EQ(engine_->event(1).error, 0);
}

TEST_F(EngineTrouble, ALossNoticedHereIsAnEventAndToldToTheKeeper) {
    open(2);
    break_path(1);
    ASSERT_EQ(recorded().size(), 1U);
    EXPECT_EQ(recorded()[0].path, 1U);
    EXPECT_EQ(recorded()[0].kind, EventKind::lost);
    EXPECT_EQ(recorded()[0].text, "the peer closed the connection");
    EXPECT_EQ(care_.lost, std::vector<std::string>{"1: the peer closed the connection"});
}

TEST_F(EngineTrouble, ALossTheKeeperNoticedFirstIsNotTwoEvents) {
    open(2);
    ASSERT_TRUE(news_->claim_loss(1));
    break_path(1);
    EXPECT_TRUE(recorded().empty());
    EXPECT_TRUE(care_.lost.empty());
}

TEST_F(EngineTrouble, IoWithoutAPathWaitsForOneThatReturns) {
    open(1);
    queue_and_commit(0, 1);
    engine_->getevents(0, 1);
    break_path(0);
    int runs = 0;
    reactor_.during_run = [&] {
        if (++runs == 20) {
            bring_back(0);
        }
        paths_[0]->complete_sent();
    };
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(engine_->event(0).error, 0);
    EXPECT_EQ(slot_->counters.held.count.get(), 1U);
    EXPECT_GE(slot_->counters.held.max.get(), 10 * kMillisecond);
    EXPECT_LT(runs, 60) << "it sleeps while it waits, and not long";
    for (const Nanoseconds wait : reactor_.waits) {
        EXPECT_LE(wait, 10 * kMillisecond);
    }
}

TEST_F(EngineTrouble, IoWithoutAPathFailsWhenThePathIsGivenUp) {
    open(1);
    queue_and_commit(0, 1);
    engine_->getevents(0, 1);
    break_path(0);
    int runs = 0;
    reactor_.during_run = [&] {
        if (++runs == 20) {
            news_->set_life(0, PathLife::gone);
        }
    };
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(engine_->event(0).error, EIO);
    EXPECT_EQ(engine_->event(0).error_class, ErrorClass::no_path);
    EXPECT_EQ(slot_->counters.held.failed.get(), 1U);
}

TEST_F(EngineTrouble, FastIoFailTmoEndsTheWaitWhileThePathIsStillTried) {
    open(1);
    queue_and_commit(0, 1);
    engine_->getevents(0, 1);
    break_path(0);
    news_->set_life(0, PathLife::failing);
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(engine_->event(0).error_class, ErrorClass::no_path);
    bring_back(0);
    engine_->getevents(0, 1);
    queue_and_commit(0, 1);
    EXPECT_EQ(paths_[0]->held.size(), 1U);
}

TEST_F(EngineTrouble, AReturningPathIsTakenBackOnlyWhenItsIoHasComeBack) {
    open(2);
    std::vector<std::uint16_t> taken;
    care_.on_reattach = [&](std::uint16_t path) { taken.push_back(path); };
    queue_and_commit(0, 2);
    engine_->getevents(0, kDepth);
    paths_[1]->is_live = false; // closing: it still has its I/O
    bring_back(1);
    engine_->getevents(0, kDepth);
    EXPECT_TRUE(taken.empty());
    paths_[1]->complete(ErrorClass::path_down);
    engine_->getevents(0, kDepth);
    engine_->getevents(0, kDepth);
    EXPECT_EQ(taken, std::vector<std::uint16_t>{1});
}

TEST_F(EngineTrouble, AStateThatAnIoSaysIsAskedForAndHoldsUntilTheKeeperTellsOne) {
    open(2);
    engine_->paths().set_reports_state(1, true);
    queue_and_commit(0, 2);
    engine_->getevents(0, kDepth);
    paths_[1]->complete(ErrorClass::ana_inaccessible);
    engine_->getevents(0, kDepth);
    EXPECT_EQ(care_.refreshed, std::vector<std::uint16_t>{1});
    EXPECT_EQ(slot_->path(1).state.get(), static_cast<std::uint64_t>(PathState::inaccessible));
    EXPECT_EQ(paths_[0]->held.size(), 2U);
    news_->set_state(1, PathState::optimized); // as before, but told again
    engine_->getevents(0, kDepth);
    EXPECT_EQ(paths_[1]->state(), PathState::optimized);
}

TEST_F(EngineTrouble, ManyIosThatSayAStateAskOnce) {
    open(2);
    engine_->paths().set_reports_state(1, true);
    queue_and_commit(0, 8);
    engine_->getevents(0, kDepth);
    for (int i = 0; i < 4; ++i) {
        paths_[1]->complete(ErrorClass::ana_inaccessible);
    }
    engine_->getevents(0, kDepth);
    EXPECT_EQ(care_.refreshed.size(), 1U);
    news_->set_state(1, PathState::optimized);
    engine_->getevents(0, kDepth);
    queue_and_commit(8, 2);
    engine_->getevents(0, kDepth);
    paths_[1]->complete(ErrorClass::ana_inaccessible);
    engine_->getevents(0, kDepth);
    EXPECT_EQ(care_.refreshed.size(), 2U);
}

TEST_F(EngineTrouble, AJobThatEndsWaitsForAHeldWrite) {
    open(2);
    engine_->paths().set_write_hold(1, 20 * kSecond);
    queue(0, Operation::read);
    queue(1, Operation::write);
    engine_->getevents(0, kDepth);
    paths_[1]->held.front()->maybe_executed = true;
    break_path(1);
    terminate_ = true;
    const Nanoseconds begin = clock_.now();
    reactor_.during_run = [&] { paths_[0]->complete_sent(); };
    EXPECT_EQ(engine_->getevents(2, kDepth), 2U);
    EXPECT_EQ(engine_->event(1).error, 0);
    EXPECT_GE(clock_.now() - begin, 20 * kSecond);
}

TEST_F(EngineTrouble, AJobWhoseRuntimeIsOverEndsThoughItHasNoPath) {
    open(1, {.iodepth = kDepth, .interval = kInterval, .most_time = 3 * kSecond});
    clock_.advance(60 * kSecond); // other jobs were being set up
    const Nanoseconds begin = clock_.now();
    queue_and_commit(0, 1);
    engine_->getevents(0, 1);
    break_path(0);
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(engine_->event(0).error, ECANCELED);
    EXPECT_GE(clock_.now() - begin, 8 * kSecond);
    EXPECT_LE(clock_.now() - begin, 9 * kSecond);
}

TEST_F(EngineTrouble, AJobWhoseRuntimeIsOverIsLeftAloneWhileIoComesBack) {
    open(1, {.iodepth = kDepth, .interval = kInterval, .most_time = kSecond});
    reactor_.during_run = [&] { paths_[0]->complete_sent(); };
    for (int i = 0; i < 3000; ++i) {
        queue_and_commit(0, 1);
        ASSERT_EQ(engine_->getevents(1, 1), 1U);
        ASSERT_EQ(engine_->event(0).error, 0);
    }
    EXPECT_FALSE(paths_[0]->close_reason);
}

// ---- deadlines

TEST_F(EngineTrouble, APathThatDoesNotAnswerInTimeLosesItsConnections) {
    open(2, {.iodepth = kDepth, .interval = kInterval, .io_timeout = 4 * kSecond});
    queue_and_commit(0, 2);
    reactor_.during_run = [&] {
        if (paths_[1]->close_reason || clock_.now() < 2 * kSecond) {
            paths_[0]->complete_sent();
        }
    };
    EXPECT_EQ(engine_->getevents(2, kDepth), 2U);
    ASSERT_TRUE(paths_[1]->close_reason);
    EXPECT_EQ(paths_[1]->close_reason->code, ETIMEDOUT);
    EXPECT_FALSE(paths_[0]->close_reason);
    EXPECT_EQ(care_.lost, std::vector<std::string>{"1: no answer to an I/O within 4000 ms"});
    EXPECT_EQ(counters(1).requeues.get(), 1U);
}

TEST_F(EngineTrouble, FioElsewhereIsNoReasonToGiveAPathUp) {
    open(1, {.iodepth = kDepth, .interval = kInterval, .io_timeout = 4 * kSecond});
    queue_and_commit(0, 1);
    engine_->getevents(0, 1);
    clock_.advance(60 * kSecond);
    reactor_.during_run = [&] { paths_[0]->complete_sent(); };
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_FALSE(paths_[0]->close_reason);
}

TEST_F(EngineTrouble, WithoutADeadlineAnIoMayTakeAnyTime) {
    open(1, {.iodepth = kDepth, .interval = kInterval, .io_timeout = 0});
    queue_and_commit(0, 1);
    int runs = 0;
    reactor_.during_run = [&] {
        if (++runs == 10'000) {
            paths_[0]->complete_sent();
        }
    };
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_FALSE(paths_[0]->close_reason);
}

// ---- the gap

TEST_F(EngineTrouble, TheFailoverGapGoesFromTheLastCompletionToTheFirstOneAfter) {
    open(2);
    queue_and_commit(0, 2);
    reactor_.waits_out = false;
    const auto complete_all = [&] {
        paths_[0]->complete_sent();
        paths_[1]->complete_sent();
    };
    reactor_.during_run = complete_all;
    engine_->getevents(2, kDepth);
    queue_and_commit(0, 2);
    reactor_.during_run = nullptr;
    engine_->getevents(0, kDepth);
    clock_.advance(3 * kSecond); // silence on both
    break_path(1);
    engine_->getevents(0, kDepth);
    clock_.advance(kSecond);
    reactor_.during_run = complete_all;
    engine_->getevents(2, kDepth);
    ASSERT_EQ(recorded().size(), 1U);
    EXPECT_EQ(recorded()[0].gap, 4 * kSecond);
    EXPECT_EQ(recorded()[0].requeues, 1U);
}

TEST_F(EngineTrouble, APathThatGoesOnKeepsTheGapShort) {
    open(2);
    reactor_.waits_out = false;
    queue_and_commit(0, 2);
    engine_->getevents(0, kDepth);
    reactor_.during_run = [&] {
        clock_.advance(50 * kMillisecond);
        paths_[0]->complete_sent();
    };
    for (std::uint32_t i = 2; i < 8; i += 2) { // p1 is silent
        engine_->getevents(1, kDepth);
        queue(i);
        queue(i + 1);
        engine_->commit();
    }
    break_path(1);
    engine_->getevents(5, kDepth);
    ASSERT_EQ(recorded().size(), 1U);
    EXPECT_EQ(recorded()[0].gap, 50 * kMillisecond);
}

} // namespace
} // namespace mpath::job::test
