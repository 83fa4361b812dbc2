// SPDX-License-Identifier: GPL-2.0-only
// What is counted where: docs/accounting.md as numbers.
#include <algorithm>

#include "tests/unit/io_engine/engine_fixture.h"

namespace mpath::job::test {
namespace {

class EngineAccounting : public IoEngineTest {
protected:
    [[nodiscard]] const record::MomentCounters& on_path(std::size_t path, Operation operation) const {
        return slot_->operations(path, 0).of(operation).moments;
    }
    /// All of it is in the steady part of the job's only visit.
    [[nodiscard]] const record::MomentCounters& of_job(Operation operation) const {
        return slot_->visits.find(1)->steady.operations[static_cast<std::size_t>(operation)];
    }
    [[nodiscard]] record::PathCounters& counters(std::size_t path) { return slot_->path(path).counters; }

    /// One I/O from queue() to account(), `answer` after it was queued.
    void do_io(Operation operation, std::uint32_t length, Nanoseconds answer, std::uint64_t offset = 0) {
        queue(0, operation, length, offset);
        reactor_.during_run = [&, answer] {
            clock_.advance(answer);
            for (FakePath* path : paths_) {
                while (path->ready > 0) {
                    path->complete(ErrorClass::none, clock_.now());
                }
            }
        };
        ASSERT_EQ(engine_->getevents(1, 1), 1U);
        engine_->account(0);
    }
};

TEST_F(EngineAccounting, IoCountsOnThePathThatCompletedItAndForTheJob) {
    open(2);
    engine_->set_accounting(true);
    do_io(Operation::read, 4096, 100 * kMicrosecond);
    do_io(Operation::write, 8192, 300 * kMicrosecond);
    EXPECT_EQ(on_path(0, Operation::read).count.get(), 1U);
    EXPECT_EQ(on_path(0, Operation::read).bytes.get(), 4096U);
    EXPECT_EQ(on_path(0, Operation::read).sum.get(), 100 * kMicrosecond);
    EXPECT_EQ(on_path(1, Operation::write).count.get(), 1U);
    EXPECT_EQ(on_path(1, Operation::write).sum.get(), 300 * kMicrosecond);
    EXPECT_EQ(on_path(1, Operation::read).count.get(), 0U);
    EXPECT_EQ(of_job(Operation::read).count.get(), 1U);
    EXPECT_EQ(of_job(Operation::write).bytes.get(), 8192U);
    // The job's response time ends when fio gets the completion, after the reactor's wait.
    EXPECT_GE(of_job(Operation::read).sum.get(), on_path(0, Operation::read).sum.get());
}

TEST_F(EngineAccounting, SumOverPathsIsTheJob) {
    open(2);
    engine_->set_accounting(true);
    for (std::uint32_t i = 0; i < 100; ++i) {
        do_io(static_cast<Operation>(i % 4), 512 * (i % 3), 10 * kMicrosecond);
    }
    for (const Operation operation : {Operation::read, Operation::write, Operation::trim, Operation::flush}) {
        EXPECT_EQ(of_job(operation).count.get(), 25U);
        EXPECT_EQ(on_path(0, operation).count.get() + on_path(1, operation).count.get(), 25U);
        EXPECT_EQ(on_path(0, operation).bytes.get() + on_path(1, operation).bytes.get(),
                  of_job(operation).bytes.get());
    }
}

TEST_F(EngineAccounting, OnlyWhatFioCountsIsCounted) {
    open();
    engine_->set_accounting(true);
    queue(0);
    queue(1);
    reactor_.during_run = [this] { paths_[0]->complete_sent(); };
    ASSERT_EQ(engine_->getevents(2, 2), 2U);
    engine_->account(1);
    EXPECT_EQ(on_path(0, Operation::read).count.get(), 1U);
}

TEST_F(EngineAccounting, DepthIsCountedFromDispatchToReturn) {
    open();
    engine_->set_accounting(true);
    queue(0);
    queue(1);
    queue(2);
    EXPECT_EQ(counters(0).depth.outstanding.get(), 3U);
    clock_.advance(10 * kMicrosecond);
    reactor_.during_run = [this] {
        for (int i = 0; i < 3; ++i) {
            paths_[0]->complete(ErrorClass::none, clock_.now());
        }
    };
    ASSERT_EQ(engine_->getevents(3, 3), 3U);
    EXPECT_EQ(counters(0).depth.outstanding.get(), 0U);
    EXPECT_EQ(counters(0).depth.max.get(), 3U);
    EXPECT_EQ(counters(0).depth.area.get(), 3 * 10 * kMicrosecond);
}

TEST_F(EngineAccounting, ErrorCountsOnThePathThatFailedItByItsClass) {
    open(2);
    queue(0);
    queue(1);
    reactor_.during_run = [this] {
        paths_[0]->complete(ErrorClass::none);
        paths_[1]->complete(ErrorClass::path_error_dnr);
    };
    ASSERT_EQ(engine_->getevents(2, 2), 2U);
    EXPECT_EQ(engine_->event(0).error, 0);
    EXPECT_NE(engine_->event(1).error, 0);
    const auto refused = static_cast<std::size_t>(ErrorClass::path_error_dnr);
    EXPECT_EQ(counters(0).errors[refused].get(), 0U);
    EXPECT_EQ(counters(1).errors[refused].get(), 1U);
    EXPECT_EQ(counters(1).depth.outstanding.get(), 0U);
}

TEST_F(EngineAccounting, IoWithoutAPathCountsOnNone) {
    open();
    paths_[0]->is_live = false;
    queue(0);
    ASSERT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(counters(0).depth.outstanding.get(), 0U);
    for (const record::Counter& errors : counters(0).errors) {
        EXPECT_EQ(errors.get(), 0U);
    }
}

TEST_F(EngineAccounting, TimeAnIoWaitedForRoomIsCountedApart) {
    open();
    queue(0);
    reactor_.during_run = [this] {
        paths_[0]->held.front()->waited = 7 * kMicrosecond;
        paths_[0]->complete();
    };
    ASSERT_EQ(engine_->getevents(1, 1), 1U);
    EXPECT_EQ(counters(0).waits.get(), 1U);
    EXPECT_EQ(counters(0).wait_time.get(), 7 * kMicrosecond);
    EXPECT_EQ(counters(0).wait_max.get(), 7 * kMicrosecond);
}

TEST_F(EngineAccounting, EndOfTheRampForgetsWhatWasAndKeepsWhatIsOutstanding) {
    open();
    do_io(Operation::write, 4096, kMicrosecond);
    paths_[0]->counted.commands = 5;
    reactor_.during_run = nullptr;
    queue(1);
    queue(2);
    EXPECT_EQ(slot_->counters.measuring_since.get(), 0U);
    clock_.advance(kMillisecond);
    engine_->set_accounting(true);
    EXPECT_EQ(slot_->counters.measuring_since.get(), clock_.now());
    EXPECT_EQ(on_path(0, Operation::write).count.get(), 0U);
    EXPECT_EQ(of_job(Operation::write).count.get(), 0U);
    EXPECT_EQ(counters(0).depth.outstanding.get(), 2U);
    EXPECT_EQ(counters(0).depth.area.get(), 0U);
    EXPECT_EQ(counters(0).traffic.commands.get(), 0U) << "counted from here";
    EXPECT_EQ(slot_->counters.written.get(), 4096U) << "describes the device's data, ramp included";

    paths_[0]->counted.commands = 8;
    engine_->publish();
    EXPECT_EQ(counters(0).traffic.commands.get(), 3U);
}

TEST_F(EngineAccounting, AccountingThatEndsAndGoesOnKeepsItsBeginning) {
    open();
    engine_->set_accounting(true);
    const auto since = slot_->counters.measuring_since.get();
    do_io(Operation::read, 512, kMicrosecond);
    EXPECT_EQ(slot_->counters.ended_at.get(), 0U);
    engine_->set_accounting(false);
    EXPECT_EQ(slot_->counters.ended_at.get(), clock_.now());
    clock_.advance(kSecond);
    engine_->set_accounting(true);
    EXPECT_EQ(slot_->counters.measuring_since.get(), since);
    EXPECT_EQ(slot_->counters.ended_at.get(), 0U);
    EXPECT_EQ(on_path(0, Operation::read).count.get(), 1U);
}

TEST_F(EngineAccounting, ResetBeginsAnew) { // fio resets its statistics in the middle of a run
    open(2);
    engine_->set_accounting(true);
    do_io(Operation::read, 512, kMicrosecond);
    do_io(Operation::read, 512, kMicrosecond);
    engine_->reset();
    for (std::size_t path = 0; path < 2; ++path) {
        EXPECT_EQ(on_path(path, Operation::read).count.get(), 0U);
        EXPECT_EQ(slot_->operations(path, 0).of(Operation::read).moments.max.get(), 0U);
    }
    do_io(Operation::read, 512, kMicrosecond);
    EXPECT_EQ(of_job(Operation::read).count.get(), 1U);
}

TEST_F(EngineAccounting, OneReadInSixtyFourIsLookedAtForZeroes) {
    open();
    engine_->set_accounting(true);
    for (int i = 0; i < 128; ++i) {
        do_io(Operation::read, 4096, kMicrosecond);
    }
    EXPECT_EQ(counters(0).sampled_reads.get(), 2U);
    EXPECT_EQ(counters(0).all_zero_reads.get(), 2U);
    buffer_[4095] = std::byte{1};
    for (int i = 0; i < 64; ++i) {
        do_io(Operation::read, 4096, kMicrosecond);
    }
    EXPECT_EQ(counters(0).sampled_reads.get(), 3U);
    EXPECT_EQ(counters(0).all_zero_reads.get(), 2U);
    std::fill(buffer_.begin(), buffer_.end(), std::byte{0xff}); // all alike, but not zero
    for (int i = 0; i < 64; ++i) {
        do_io(Operation::read, 4096, kMicrosecond);
    }
    EXPECT_EQ(counters(0).sampled_reads.get(), 4U);
    EXPECT_EQ(counters(0).all_zero_reads.get(), 2U);
}

TEST_F(EngineAccounting, WrittenBytesAreToldApartByTheirPattern) {
    open();
    do_io(Operation::write, 4096, kMicrosecond, 1 << 20);
    do_io(Operation::write, 4096, kMicrosecond, (1 << 20) + 4096);
    do_io(Operation::write, 64 * 1024, kMicrosecond, 0);
    EXPECT_EQ(slot_->counters.written.get(), 8192U + 65536U);
    EXPECT_EQ(slot_->counters.written_small_random.get(), 4096U);
    EXPECT_EQ(slot_->counters.written_sequential.get(), 4096U);
}

TEST_F(EngineAccounting, TrafficIsPublishedOnceAnInterval) {
    open();
    do_io(Operation::read, 512, kMicrosecond);
    paths_[0]->counted.wire_bytes_received = 1000;
    do_io(Operation::read, 512, kMicrosecond);
    EXPECT_NE(counters(0).traffic.wire_bytes_received.get(), 1000U);
    clock_.advance(kInterval);
    do_io(Operation::read, 512, kMicrosecond);
    EXPECT_EQ(counters(0).traffic.wire_bytes_received.get(), 1000U);
    EXPECT_EQ(slot_->counters.system_calls.get(), reactor_.waits.size());
}

} // namespace
} // namespace mpath::job::test
