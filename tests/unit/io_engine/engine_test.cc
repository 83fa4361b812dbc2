// SPDX-License-Identifier: GPL-2.0-only
// When I/Os are sent, when completions are handed out, and how a job ends whose I/O does not come back.
#include <numeric>

#include "tests/unit/io_engine/engine_fixture.h"

namespace mpath::job::test {
namespace {

using Indices = std::vector<std::uint32_t>;

// ---- sending

class EngineCommit : public IoEngineTest {};

TEST_F(EngineCommit, OfFewIosWaitsUntilFioComesForCompletions) {
    open();
    queue_and_commit(0, 4);
    EXPECT_EQ(paths_[0]->flushed, 0U);
    EXPECT_TRUE(reactor_.waits.empty());
    reactor_.during_run = [this] {
        EXPECT_EQ(paths_[0]->flushed, 4U) << "sent before it waits";
        paths_[0]->complete_sent();
    };
    EXPECT_EQ(engine_->getevents(1, kDepth), 4U);
    EXPECT_EQ(reactor_.waits.size(), 1U) << "one system call for all four";
}

TEST_F(EngineCommit, OfSixteenSendsThem) {
    open();
    queue_and_commit(0, 15);
    EXPECT_EQ(paths_[0]->flushed, 0U);
    queue_and_commit(15, 1);
    EXPECT_EQ(paths_[0]->flushed, 16U);
    EXPECT_EQ(reactor_.waits, (std::vector<Nanoseconds>{0})) << "and does not wait";
    queue_and_commit(16, 15);
    EXPECT_EQ(paths_[0]->flushed, 16U) << "counted anew";
}

TEST_F(EngineCommit, SendsWhatHasWaitedLongEnough) {
    open();
    queue_and_commit(0, 1);
    clock_.advance(20 * kMicrosecond);
    queue_and_commit(1, 1);
    EXPECT_EQ(paths_[0]->flushed, 0U);
    clock_.advance(1);
    queue_and_commit(2, 1);
    EXPECT_EQ(paths_[0]->flushed, 3U);
}

TEST_F(EngineCommit, OfASingleIoNeverSends) { // depth 1: fio comes back at once
    open();
    clock_.advance(kSecond);
    queue_and_commit(0, 1);
    EXPECT_EQ(paths_[0]->flushed, 0U);
}

TEST_F(EngineCommit, WithoutIosIsFree) {
    open();
    engine_->commit();
    EXPECT_TRUE(reactor_.waits.empty());
}

TEST_F(EngineCommit, KeepsWhatArrivesMeanwhileForTheNextGetevents) {
    open();
    reactor_.during_run = [this] { paths_[0]->complete_sent(); };
    queue_and_commit(0, 16);
    EXPECT_EQ(reactor_.waits.size(), 1U);
    EXPECT_EQ(engine_->getevents(1, kDepth), 16U);
    EXPECT_EQ(reactor_.waits.size(), 1U) << "no system call for what is there already";
}

// ---- handing out

class EngineGetevents : public IoEngineTest {};

TEST_F(EngineGetevents, WithoutAMinimumLooksOnceAndNeverWaits) {
    open();
    queue_and_commit(0, 2);
    EXPECT_EQ(engine_->getevents(0, kDepth), 0U);
    EXPECT_EQ(reactor_.waits, (std::vector<Nanoseconds>{0}));
    EXPECT_EQ(paths_[0]->flushed, 2U) << "sent nevertheless";
}

TEST_F(EngineGetevents, WithoutAMinimumTakesWhatIsThereWithoutLooking) {
    open();
    reactor_.during_run = [this] { paths_[0]->complete_sent(); };
    queue_and_commit(0, 16);
    EXPECT_EQ(engine_->getevents(0, 4), 4U);
    EXPECT_EQ(engine_->getevents(0, kDepth), 12U);
    EXPECT_EQ(reactor_.waits.size(), 1U);
}

TEST_F(EngineGetevents, WaitsUntilTheMinimumIsThere) {
    open();
    queue_and_commit(0, 5);
    reactor_.during_run = [this] { paths_[0]->complete(); };
    EXPECT_EQ(engine_->getevents(3, kDepth), 3U);
    EXPECT_EQ(events(3), (Indices{0, 1, 2}));
    EXPECT_EQ(reactor_.waits.size(), 3U);
    for (const Nanoseconds wait : reactor_.waits) {
        EXPECT_GT(wait, 0U);
        EXPECT_LE(wait, 100 * kMillisecond) << "fio's terminate is seen in time";
    }
}

TEST_F(EngineGetevents, HandsOutAtMostTheMaximumAndKeepsTheRestInOrder) {
    open();
    queue_and_commit(0, 10);
    reactor_.during_run = [this] { paths_[0]->complete_sent(); };
    EXPECT_EQ(engine_->getevents(1, 4), 4U);
    EXPECT_EQ(events(4), (Indices{0, 1, 2, 3}));
    EXPECT_EQ(engine_->getevents(1, 4), 4U);
    EXPECT_EQ(events(4), (Indices{4, 5, 6, 7}));
    EXPECT_EQ(engine_->getevents(1, 4), 2U);
    EXPECT_EQ(events(2), (Indices{8, 9}));
    EXPECT_EQ(reactor_.waits.size(), 1U);
}

TEST_F(EngineGetevents, LooksNotTooOftenWithManyOutstanding) {
    open();
    clock_.step = kMicrosecond;
    queue_and_commit(0, 16);
    reactor_.waits_out = false;
    std::vector<Nanoseconds> looked_at;
    reactor_.during_run = [&] {
        looked_at.push_back(clock_.now());
        paths_[0]->complete();
    };
    EXPECT_EQ(engine_->getevents(2, 2), 2U);
    ASSERT_EQ(looked_at.size(), 2U);
    EXPECT_GE(looked_at[1] - looked_at[0], 8 * kMicrosecond);
}

TEST_F(EngineGetevents, EveryIoOfALongRunComesOutOnce) {
    open(2);
    reactor_.during_run = [this, turn = 0U]() mutable { // an uneven stream of answers
        FakePath& path = *paths_[++turn % 2];
        for (std::size_t i = 0; i < 1 + turn % 3 && path.ready > 0; ++i) {
            path.complete();
        }
    };
    std::vector<bool> busy(kDepth);
    std::uint32_t outstanding = 0;
    std::uint32_t completed = 0;
    for (std::uint32_t queued = 0; completed < 5000;) {
        for (std::uint32_t i = 0; i < kDepth && queued < 5000; ++i) {
            if (!busy[i]) {
                busy[i] = true;
                queue(i);
                engine_->commit();
                ++queued;
                ++outstanding;
            }
        }
        const std::uint32_t max = 1 + completed % 7;
        const std::uint32_t count = engine_->getevents(1, max);
        ASSERT_GE(count, 1U);
        ASSERT_LE(count, max);
        for (const std::uint32_t index : events(count)) {
            ASSERT_TRUE(busy[index]);
            busy[index] = false;
            --outstanding;
            ++completed;
        }
        clock_.advance(kMicrosecond * 30);
    }
    EXPECT_EQ(outstanding, 0U);
}

// ---- paths

class EnginePaths : public IoEngineTest {};

TEST_F(EnginePaths, AreUsedInTurn) {
    open(2);
    queue_and_commit(0, 6);
    EXPECT_EQ(paths_[0]->held.size(), 3U);
    EXPECT_EQ(paths_[1]->held.size(), 3U);
}

TEST_F(EnginePaths, WithoutOneThatMayReturnTheIoFailsAtOnce) {
    open(2);
    paths_[0]->is_live = false;
    paths_[1]->is_live = false;
    queue_and_commit(0, 1);
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(engine_->event(0).error, EIO);
    EXPECT_EQ(engine_->event(0).error_class, ErrorClass::no_path);
    for (const Nanoseconds wait : reactor_.waits) {
        EXPECT_EQ(wait, 0U) << "nothing to wait for";
    }
}

TEST_F(EnginePaths, FollowTheStatesTheKeeperHears) {
    open(2);
    news_->set_state(0, PathState::inaccessible);
    engine_->getevents(0, 1);
    EXPECT_EQ(slot_->path(0).state.get(), static_cast<std::uint64_t>(PathState::inaccessible));
    queue_and_commit(0, 4);
    EXPECT_EQ(paths_[0]->held.size(), 0U);
    EXPECT_EQ(paths_[1]->held.size(), 4U);
    news_->set_state(0, PathState::optimized);
    engine_->getevents(0, 1);
    queue_and_commit(4, 4);
    EXPECT_EQ(paths_[0]->held.size(), 2U);
}

// ---- ending

class EngineTerminate : public IoEngineTest {};

TEST_F(EngineTerminate, GivesTheIoTimeToComeBack) {
    open();
    queue_and_commit(0, 2);
    terminate_ = true;
    int runs = 0;
    reactor_.during_run = [&] {
        if (++runs == 10) {
            paths_[0]->complete_sent();
        }
    };
    EXPECT_EQ(engine_->getevents(2, kDepth), 2U);
    EXPECT_EQ(engine_->event(0).error, 0);
    EXPECT_FALSE(paths_[0]->close_reason);
}

TEST_F(EngineTerminate, EndsWithEcanceledWhenItDoesNot) {
    open(2);
    queue_and_commit(0, 4);
    terminate_ = true;
    const Nanoseconds begin = clock_.now();
    EXPECT_EQ(engine_->getevents(4, kDepth), 4U);
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(engine_->event(i).error, ECANCELED);
    }
    for (const FakePath* path : paths_) {
        ASSERT_TRUE(path->close_reason);
        EXPECT_EQ(path->close_reason->code, ECANCELED);
    }
    EXPECT_GE(clock_.now() - begin, 5 * kSecond);
    EXPECT_LE(clock_.now() - begin, 6 * kSecond);
}

TEST_F(EngineTerminate, RefusesWhatComesAfterwards) {
    open();
    queue_and_commit(0, 1);
    terminate_ = true;
    engine_->getevents(1, 1);
    queue_and_commit(1, 1);
    EXPECT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(engine_->event(0).error, ECANCELED);
}

TEST_F(EngineTerminate, LeavesAJobAloneThatIsNotWaiting) {
    open();
    terminate_ = true;
    for (int i = 0; i < 200; ++i) {
        clock_.advance(100 * kMillisecond);
        EXPECT_EQ(engine_->getevents(0, 1), 0U);
    }
    EXPECT_FALSE(paths_[0]->close_reason);
}

TEST_F(EngineTerminate, CloseIsOrderly) {
    open(2);
    engine_->close();
    for (const FakePath* path : paths_) {
        ASSERT_TRUE(path->close_reason);
        EXPECT_EQ(path->close_reason->code, 0);
    }
}

} // namespace
} // namespace mpath::job::test
