// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "running_fio.h"
#include "top_jobs.h"

namespace mpath::cli {
namespace {

constexpr Nanoseconds kBegin = 100 * kSecond;

class TopWatchTest : public testing::Test {
protected:
    live::JobSlot& add(const std::string& name, std::uint32_t number) {
        return **block_->add_job(job_with(name, number));
    }
    static void read(live::JobSlot& job, std::size_t path, Nanoseconds time) {
        job.operations(path, 0).of(Operation::read).add(time, 4096);
    }
    TopView look(Nanoseconds now) { return watch_.look(now, kSomeDay); }

    live::TemporaryDirectory directory_;
    std::optional<live::ControlBlock> block_{
        std::move(live::ControlBlock::create(directory_.path()).value())};
    TopWatch watch_{directory_.path(), live::this_process().value(), {}};
};

TEST_F(TopWatchTest, TellsWhatHappenedSinceTheLookBefore) {
    live::JobSlot& job = add("seq", 1);
    start_job(job);
    job.begin_measuring(kBegin);
    read(job, 0, 1);
    watch_.find(kBegin + kSecond, kSomeDay);
    read(job, 0, 1000);
    read(job, 0, 1000);
    const TopView view = look(kBegin + 2 * kSecond);
    ASSERT_EQ(view.jobs.size(), 1U);
    EXPECT_EQ(view.jobs[0].setting, "round-robin");
    ASSERT_TRUE(view.jobs[0].interval);
    EXPECT_EQ(view.jobs[0].interval->length, kSecond);
    EXPECT_EQ(view.jobs[0].interval->paths[0].operations[0].moments.count, 2U);
    EXPECT_EQ(look(kBegin + 3 * kSecond).jobs[0].interval->paths[0].operations[0].moments.count, 0U);
}

TEST_F(TopWatchTest, TellsEveryEventOnce) {
    live::JobSlot& job = add("seq", 1);
    job.events.add(1, 1, 0, record::EventKind::lost, "one");
    watch_.find(kBegin, kSomeDay);
    EXPECT_EQ(look(kBegin).jobs[0].events.size(), 1U) << "those from before it began, too";
    EXPECT_TRUE(look(kBegin).jobs[0].events.empty());
    job.events.add(2, 2, 0, record::EventKind::connected, "two");
    ASSERT_EQ(look(kBegin).jobs[0].events.size(), 1U);
}

TEST_F(TopWatchTest, FindsJobsAndRunsThatComeLater) {
    watch_.find(kBegin, kSomeDay);
    EXPECT_TRUE(watch_.has_runs());
    EXPECT_TRUE(look(kBegin).jobs.empty());
    add("seq", 1);
    EXPECT_EQ(look(kBegin).jobs.size(), 1U);
    OtherFio other(directory_.path(), {job_with("rand", 1), job_with("rand", 2)});
    const TopView view = look(kBegin);
    ASSERT_EQ(view.jobs.size(), 3U);
    EXPECT_EQ(view.jobs[1].run, other.pid());
    EXPECT_EQ(view.jobs[2].label, "rand#2");
    other.kill();
    EXPECT_EQ(look(kBegin).jobs.size(), 1U) << "what a dead fio left behind is not shown";
    block_.reset();
    EXPECT_TRUE(look(kBegin).jobs.empty());
    EXPECT_FALSE(watch_.has_runs());
    EXPECT_EQ(watch_.nothing().text, "no fio of this user runs with the engine mpath");
}

TEST_F(TopWatchTest, ShowsTheJobsThatAreMeant) {
    add("seq", 1);
    add("rand", 2);
    TopWatch watch(directory_.path(), live::this_process().value(), {{}, {"rand"}});
    const TopView view = watch.look(kBegin, kSomeDay);
    ASSERT_EQ(view.jobs.size(), 1U);
    EXPECT_EQ(view.jobs[0].name, "rand");
    TopWatch nobody(directory_.path(), live::this_process().value(), {{}, {"nosuch"}});
    nobody.find(kBegin, kSomeDay);
    EXPECT_FALSE(nobody.has_runs());
    EXPECT_EQ(nobody.nothing().text, "no running fio has a job 'nosuch'");
}

TEST_F(TopWatchTest, TellsTheEndOfAJobOnce) {
    live::JobSlot& job = add("seq", 1);
    start_job(job);
    EXPECT_FALSE(look(kBegin).jobs[0].told);
    end_job(job);
    EXPECT_FALSE(look(kBegin).jobs[0].told);
    EXPECT_TRUE(look(kBegin).jobs[0].told);
}

TEST_F(TopWatchTest, OfAKilledJobHasNoNumbers) {
    live::JobSlot& job = add("seq", 1);
    job.begin_measuring(kBegin);
    kill_job(job);
    const TopView view = look(kBegin + kSecond);
    EXPECT_EQ(view.jobs[0].standing, live::JobStanding::killed);
    EXPECT_FALSE(view.jobs[0].interval);
}

TEST_F(TopWatchTest, AsksTheChosenJobOrAll) {
    live::JobSlot& seq = add("seq", 1);
    live::JobSlot& rand = add("rand", 2);
    look(kBegin);
    const FakeClock clock;
    std::vector<Error> errors;
    const Order order{Order::What::policy, "numa", {}, false};
    EXPECT_EQ(watch_.ask(1, order, clock, errors).size(), 1U);
    EXPECT_EQ(seq.mailbox.requested.get(), 0U);
    EXPECT_EQ(rand.mailbox.requested.get(), 1U);
    EXPECT_EQ(watch_.ask(std::nullopt, order, clock, errors).size(), 1U);
    EXPECT_EQ(seq.mailbox.requested.get(), 1U);
    EXPECT_TRUE(errors.empty());
    EXPECT_TRUE(watch_.ask(0, {Order::What::policy, "best", {}, false}, clock, errors).empty());
    ASSERT_EQ(errors.size(), 1U);
}

} // namespace
} // namespace mpath::cli
