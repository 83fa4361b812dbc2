// SPDX-License-Identifier: GPL-2.0-only
#include "record/counters.h"

#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include <gtest/gtest.h>

namespace mpath::record {
namespace {

constexpr Nanoseconds kStart = 1'000'000;

TEST(OptionalCounter, IsAbsentUntilSomebodyBeginsToCount) {
    OptionalCounter counter{};
    EXPECT_EQ(counter.get(), std::nullopt);
    counter.begin();
    EXPECT_EQ(counter.get(), 0U);
    counter.add(3);
    EXPECT_EQ(counter.get(), 3U);
    counter.set(9);
    EXPECT_EQ(counter.get(), 9U);
}

TEST(MomentCounters, ZeroBytesAreNoSample) {
    const MomentCounters counters{};
    EXPECT_EQ(counters.snapshot(), Moments());
}

TEST(MomentCounters, AgreeWithMomentsOfTheSameSamples) {
    MomentCounters counters{};
    Moments moments;
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::uint64_t> times(0, kLargestTime);
    for (int count = 0; count < 1000; ++count) {
        const std::uint64_t time = times(random);
        counters.add(time, 4096);
        moments.add(time, 4096);
    }
    EXPECT_EQ(counters.snapshot(), moments);
}

TEST(Moments, TellMeanAndDeviationOfHoursWithoutOverflow) {
    Moments moments;
    for (int count = 0; count < 1000; ++count) {
        moments.add(count % 2 == 0 ? kLargestTime - 1000 : kLargestTime, 1);
    }
    EXPECT_DOUBLE_EQ(moments.mean(), static_cast<double>(kLargestTime - 500));
    moments = {};
    for (int count = 0; count < 1000; ++count) {
        moments.add(count % 2 == 0 ? 90'000 : 110'000, 1);
    }
    EXPECT_NEAR(moments.standard_deviation(), 10'005, 0.5);
}

TEST(Depth, IsWeightedByTime) {
    PathCounters path{};
    path.depth.begin(kStart);
    on_dispatch(path, kStart + 100); // 0 for 100 ns
    on_dispatch(path, kStart + 200); // 1 for 100 ns
    on_return(path, kStart + 500);   // 2 for 300 ns
    on_return(path, kStart + 600);   // 1 for 100 ns
    EXPECT_EQ(path.depth.area_until(kStart + 1000), 100U + 600U + 100U);
    EXPECT_EQ(path.depth.max.get(), 2U);
    EXPECT_EQ(path.depth.outstanding.get(), 0U);
}

TEST(Depth, CountsWhatIsStillOutstandingUpToNow) {
    PathCounters path{};
    path.depth.begin(kStart);
    on_dispatch(path, kStart);
    EXPECT_EQ(path.depth.area_until(kStart + 250), 250U);
}

TEST(Depth, ForgetsTheRampButNotItsOutstandingIo) {
    PathCounters path{};
    on_dispatch(path, kStart);
    on_dispatch(path, kStart + 10);
    on_return(path, kStart + 20);
    path.depth.begin(kStart + 50);
    EXPECT_EQ(path.depth.max.get(), 1U);
    on_return(path, kStart + 60);
    EXPECT_EQ(path.depth.area_until(kStart + 1000), 10U);
}

TEST(Depth, ComesOutRightWhenTimesOfOneCallLieBeforeThoseOfTheLast) {
    PathCounters path{};
    path.depth.begin(kStart);
    on_dispatch(path, kStart + 100);
    on_dispatch(path, kStart + 300);
    on_return(path, kStart + 250); // its answer arrived before the second dispatch
    on_return(path, kStart + 400);
    // 150 ns for the one, 100 for the other.
    EXPECT_EQ(path.depth.area_until(kStart + 400), 250U);
}

TEST(Depth, EqualsThroughputTimesResponseTime) {
    // One I/O of 300 ns every 100 ns: three outstanding.
    PathCounters path{};
    path.depth.begin(kStart);
    for (Nanoseconds now = 0; now <= 100'000; now += 100) {
        if (now >= 300) {
            on_return(path, kStart + now);
        }
        on_dispatch(path, kStart + now);
    }
    EXPECT_NEAR(static_cast<double>(path.depth.area_until(kStart + 100'000)) / 100'000, 3.0, 0.01);
}

TEST(Waits, AreCountedAndTimed) {
    PathCounters path{};
    on_wait_end(path, 40);
    on_wait_end(path, 10);
    EXPECT_EQ(path.waits.get(), 2U);
    EXPECT_EQ(path.wait_time.get(), 50U);
    EXPECT_EQ(path.wait_max.get(), 40U);
}

TEST(Errors, CountOnThePathThatFailedByClass) {
    PathCounters path{};
    on_error(path, ErrorClass::ana_transition);
    on_requeue(path, 700);
    on_error(path, ErrorClass::io_error);
    EXPECT_EQ(path.errors[static_cast<std::size_t>(ErrorClass::ana_transition)].get(), 1U);
    EXPECT_EQ(path.errors[static_cast<std::size_t>(ErrorClass::io_error)].get(), 1U);
    EXPECT_EQ(path.requeues.get(), 1U);
}

TEST(Requeues, KeepHowLongEachTookToBeSentAgain) {
    auto path = std::make_unique<PathCounters>();
    on_requeue(*path, 700);
    on_requeue(*path, 90);
    EXPECT_EQ(path->requeues.get(), 2U);
    EXPECT_EQ(path->requeue_delay.moments.snapshot().sum, 790U);
    EXPECT_EQ(path->requeue_delay.moments.snapshot().max, 700U);
    EXPECT_EQ(Histogram(path->requeue_delay.histogram).count(), 2U);
    EXPECT_EQ(path->retries.get(), 0U);
    EXPECT_EQ(path->exposed_writes.get(), 0U);
}

TEST(Retries, AndExposedWritesCountApartFromRequeues) {
    auto path = std::make_unique<PathCounters>();
    on_retry(*path);
    on_retry(*path);
    on_exposed(*path);
    EXPECT_EQ(path->retries.get(), 2U);
    EXPECT_EQ(path->exposed_writes.get(), 1U);
    EXPECT_EQ(path->requeues.get(), 0U);
    EXPECT_EQ(path->requeue_delay.moments.snapshot(), Moments());
}

TEST(Holds, AreCountedAndTimedForTheJob) {
    auto job = std::make_unique<JobCounters>();
    on_hold_end(*job, 40);
    on_hold_end(*job, 10);
    EXPECT_EQ(job->held.count.get(), 2U);
    EXPECT_EQ(job->held.total.get(), 50U);
    EXPECT_EQ(job->held.max.get(), 40U);
    EXPECT_EQ(job->held.failed.get(), 0U);
    on_no_path(*job);
    EXPECT_EQ(job->held.failed.get(), 1U);
    EXPECT_EQ(job->held.count.get(), 2U);
}

TEST(Completion, CountsThePathsTimeOnThePathAndFiosTimeForTheJob) {
    auto job = std::make_unique<JobCounters>();
    MomentCounters visit{};
    auto path = std::make_unique<OperationSet>();
    Request request;
    request.operation = Operation::write;
    request.length = 8192;
    request.queued_at = kStart;
    request.dispatched_at = kStart + 1000; // a failed attempt elsewhere came before
    request.completed_at = kStart + 1500;
    on_complete(*job, visit, *path, request, kStart + 1700); // fio fetches it later
    EXPECT_EQ(path->of(Operation::write).moments.snapshot().sum, 500U);
    EXPECT_EQ(visit.snapshot().sum, 1700U);
    EXPECT_EQ(Histogram(job->response[static_cast<std::size_t>(Operation::write)]).bucket(bucket_of(1700)),
              1U);
    EXPECT_EQ(Histogram(job->response[static_cast<std::size_t>(Operation::read)]).count(), 0U);
    EXPECT_EQ(path->of(Operation::write).moments.snapshot().bytes, 8192U);
    EXPECT_EQ(path->of(Operation::read).moments.snapshot().count, 0U);
    EXPECT_EQ(Histogram(path->of(Operation::write).histogram).count(), 1U);
}

TEST(Written, ToldApartBySizeAndPlace) {
    auto job = std::make_unique<JobCounters>();
    on_write(*job, 4096, 4096);           // small, first of all
    on_write(*job, 8192, 4096);           // goes on
    on_write(*job, 1 << 20, kSmallWrite); // elsewhere, but large
    on_write(*job, 4096, 512);            // small and elsewhere
    EXPECT_EQ(job->written.get(), 4096U + 4096U + kSmallWrite + 512U);
    EXPECT_EQ(job->written_sequential.get(), 4096U);
    EXPECT_EQ(job->written_small_random.get(), 4096U + 512U);
}

TEST(Counters, CanBeReadWhileTheyAreWritten) {
    auto set = std::make_unique<OperationSet>();
    std::atomic<bool> done = false;
    std::thread reader([&] {
        while (!done.load()) {
            const Moments seen = set->of(Operation::read).moments.snapshot();
            if (seen.count != 0) {
                // Everything else is of at least the samples that were counted.
                ASSERT_EQ(seen.min, 100U);
                ASSERT_EQ(seen.max, 100U);
                ASSERT_GE(seen.sum, seen.count * 100);
                ASSERT_GE(Histogram(set->of(Operation::read).histogram).count(), seen.count);
            }
        }
    });
    for (int count = 0; count < 20'000; ++count) {
        set->of(Operation::read).add(100, 1);
    }
    done = true;
    reader.join();
}

} // namespace
} // namespace mpath::record
