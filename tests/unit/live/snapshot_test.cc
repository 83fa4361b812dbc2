// SPDX-License-Identifier: GPL-2.0-only
#include "live/snapshot.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "live/control_block.h"
#include "live/sampler.h"
#include "temporary_directory.h"

namespace mpath::live {
namespace {

constexpr Nanoseconds kBegin = 100 * kSecond;

class Snapshot : public testing::Test {
protected:
    JobSlot& add_job(std::uint32_t number) {
        JobSlot& job = **block_.add_job({.thread_number = number,
                                         .name = "job" + std::to_string(number),
                                         .iopolicy = "numa",
                                         .paths = {{"p0", "a"}, {"p1", "b"}}});
        visit(job, kFirstSetting, kBegin);
        return job;
    }

    /// As the I/O thread goes to a setting that is settled at once.
    static VisitSlot& visit(JobSlot& job, std::uint64_t setting, Nanoseconds now) {
        if (VisitSlot* before = job.visits.find(job.visits.last())) {
            before->ended.set(now);
            if (before->settled.get() != 0) {
                job.settings[before->setting.get()].steady_time.add(now - before->settled.get());
            }
        }
        VisitSlot& visit = job.visits.begin();
        visit.setting.set(setting);
        visit.began.set(now);
        visit.settled.set(now);
        job.settings[setting].visits.add();
        job.setting_in_force.set(setting);
        return visit;
    }

    /// One read on `path` from `from` to `from` + `time`.
    static void read(JobSlot& job, std::uint16_t path, Nanoseconds from, Nanoseconds time) {
        Request request;
        request.length = 4096;
        request.queued_at = request.dispatched_at = from;
        request.completed_at = from + time;
        record::on_dispatch(job.path(path).counters, from);
        record::on_return(job.path(path).counters, from + time);
        record::on_complete(job.counters, job.visits.find(job.visits.last())->steady.operations[0],
                            job.operations(path, job.setting_in_force.get()), request, from + time);
    }

    TemporaryDirectory directory_;
    ControlBlock block_ = std::move(ControlBlock::create(directory_.path()).value());
};

TEST_F(Snapshot, CopiesWhatTheJobCounted) {
    JobSlot& job = add_job(3);
    job.path(1).set_state(PathState::non_optimized);
    job.path(1).group.set(2);
    job.path(1).device.set("uuid 1");
    job.begin_measuring(kBegin);
    read(job, 1, kBegin, 1000);
    job.path(1).counters.traffic.pdus_sent.set(4);
    record::on_error(job.path(0).counters, ErrorClass::path_down);
    record::on_requeue(job.path(0).counters, 700);
    record::on_retry(job.path(0).counters);
    record::on_exposed(job.path(0).counters);
    record::on_hold_end(job.counters, 400);
    record::on_no_path(job.counters);
    job.events.set_failover(job.events.add(kBegin, 1, 0, record::EventKind::lost, "gone"), 900, 1);
    job.counters.ended_at.set(kBegin + 10'000);

    const record::JobReport report = snapshot(job, kLastActivity);
    const record::JobResult& result = report.result;
    EXPECT_EQ(result.name, "job3");
    EXPECT_EQ(result.measured(), 10'000U);
    EXPECT_TRUE(result.ended);
    EXPECT_EQ(result.response.of(Operation::read).count(), 1U);
    EXPECT_EQ(result.cpu.user, std::nullopt);
    ASSERT_EQ(result.paths.size(), 2U);
    EXPECT_EQ(result.paths[1].state, PathState::non_optimized);
    EXPECT_EQ(result.paths[1].settings[0].name, "numa");
    EXPECT_EQ(result.paths[1].operations().of(Operation::read).moments.sum, 1000U);
    EXPECT_EQ(result.paths[1].depth.area, 1000U);
    EXPECT_EQ(result.paths[1].traffic.pdus_sent, 4U);
    EXPECT_EQ(result.paths[1].traffic.commands, std::nullopt);
    EXPECT_EQ(result.paths[0].state, std::nullopt);
    EXPECT_EQ(result.paths[0].error_count(), 1U);
    EXPECT_EQ(result.paths[0].requeues, 1U);
    EXPECT_EQ(result.paths[0].requeue_delay->moments.max, 700U);
    EXPECT_EQ(result.paths[0].retries, 1U);
    EXPECT_EQ(result.paths[0].exposed_writes, 1U);
    EXPECT_EQ(result.paths[1].requeue_delay->count(), 0U) << "counted, and none";
    EXPECT_EQ(result.held, (record::HoldResult{1, 400, 400, 1}));
    ASSERT_EQ(result.events.size(), 1U);
    EXPECT_EQ(result.events[0].gap, 900U);
    EXPECT_EQ(report.conditions[1].group, 2U);
    EXPECT_EQ(report.conditions[1].device, "uuid 1");
    EXPECT_EQ(report.conditions[0].device, std::nullopt);
}

TEST_F(Snapshot, TellsSettingsApartAndTheTransitionLast) {
    JobSlot& job = **block_.add_job({.name = "j",
                                     .iopolicy = "numa",
                                     .paths = {{"p0", "a"}},
                                     .settings = {{"numa", "numa"}, {"queue-depth", "queue-depth"}},
                                     .steered = true});
    job.begin_measuring(kBegin);
    visit(job, kFirstSetting, kBegin);
    read(job, 0, kBegin, 1000);
    visit(job, 2, kBegin + 5000).settled.set(kBegin + 5400);
    read(job, 0, kBegin + 5500, 300);
    job.operations(0, kTransitionSetting).of(Operation::read).add(700, 4096);
    job.settings[2].disturbed_visits.add();
    job.counters.switch_delay.add(90);

    const record::JobResult result = snapshot(job, kBegin + 6000).result;
    ASSERT_EQ(result.settings.size(), 2U);
    EXPECT_EQ(result.settings[0], (record::SettingTime{"numa", 5000, 1, 1, 0}));
    EXPECT_EQ(result.settings[1], (record::SettingTime{"queue-depth", 600, 1, 1, 1})) << "it goes on";
    const std::vector<record::SettingResult>& settings = result.paths[0].settings;
    ASSERT_EQ(settings.size(), 3U);
    EXPECT_EQ(settings[0].name, "numa");
    EXPECT_EQ(settings[0].operations.of(Operation::read).moments.sum, 1000U);
    EXPECT_EQ(settings[1].operations.of(Operation::read).moments.sum, 300U);
    EXPECT_EQ(settings[2].name, record::kTransition);
    EXPECT_EQ(settings[2].operations.of(Operation::read).moments.sum, 700U);
    EXPECT_EQ(result.response.of(Operation::read).moments.count, 2U) << "of all visits";
    EXPECT_EQ(result.switch_delay->moments.max, 90U);
}

TEST_F(Snapshot, OfAJobThatIsNotSteeredHasOneSettingAndNoTransition) {
    JobSlot& job = add_job(1);
    job.begin_measuring(kBegin);
    const record::JobResult result = snapshot(job, kBegin + 1000).result;
    ASSERT_EQ(result.settings.size(), 1U);
    EXPECT_EQ(result.settings[0], (record::SettingTime{"numa", 1000, 1, 1, 0}));
    EXPECT_EQ(result.paths[0].settings.size(), 1U);
    EXPECT_FALSE(result.has_several_settings());
    EXPECT_EQ(result.switch_delay->count(), 0U) << "counted, and none";
}

TEST_F(Snapshot, OfAJobThatWasKilledEndsWithItsLastIo) {
    JobSlot& job = add_job(1);
    job.begin_measuring(kBegin);
    read(job, 0, kBegin + 4000, 1000);
    EXPECT_EQ(snapshot(job, kLastActivity).result.measured(), 5000U);
    EXPECT_FALSE(snapshot(job, kLastActivity).result.ended);
    EXPECT_EQ(snapshot(job, kBegin + 9000).result.measured(), 9000U) << "running";
}

TEST_F(Snapshot, OfAJobInItsRampHasMeasuredNothing) {
    JobSlot& job = add_job(1);
    record::on_dispatch(job.path(0).counters, kBegin);
    const record::JobResult result = snapshot(job, kBegin + 1000).result;
    EXPECT_EQ(result.measured_from, 0U);
    EXPECT_EQ(result.measured(), 0U);
    EXPECT_EQ(result.paths[0].depth, record::DepthResult());
}

TEST_F(Snapshot, CanBeTakenWhileTheJobRuns) {
    JobSlot& job = add_job(1);
    job.begin_measuring(kBegin);
    std::atomic<bool> done = false;
    std::thread keeper([&] {
        Sampler sampler(job);
        std::uint64_t seen = 0;
        while (!done.load()) {
            const record::JobResult result = snapshot(job, kLastActivity).result;
            ASSERT_GE(result.paths[0].operations().of(Operation::read).count(), seen);
            seen = result.paths[0].operations().of(Operation::read).count();
            static_cast<void>(sampler.sample(kBegin + kSecond + seen, 0));
        }
    });
    for (Nanoseconds count = 0; count < 20'000; ++count) {
        read(job, 0, kBegin + count * 100, 50);
    }
    done = true;
    keeper.join();
}

} // namespace
} // namespace mpath::live
