// SPDX-License-Identifier: GPL-2.0-only
#include "live/sampler.h"

#include <gtest/gtest.h>

#include "live/control_block.h"
#include "temporary_directory.h"

namespace mpath::live {
namespace {

constexpr Nanoseconds kStart = 100 * kSecond;
constexpr Nanoseconds kUtc = 1'790'000'000 * kSecond;

class SamplerTest : public testing::Test {
protected:
    void read(Nanoseconds time) {
        record::on_dispatch(job_.path(0).counters, now_);
        now_ += time;
        record::on_return(job_.path(0).counters, now_);
        job_.operations(0, 0).of(Operation::read).add(time, 8192);
    }
    std::optional<record::Interval> sample_at(Nanoseconds now) { return sampler_.sample(now, kUtc); }

    TemporaryDirectory directory_;
    ControlBlock block_ = std::move(ControlBlock::create(directory_.path()).value());
    JobSlot& job_ = **block_.add_job({.name = "j", .iopolicy = "numa", .paths = {{"p0", "a"}}});
    Sampler sampler_{job_};
    Nanoseconds now_ = kStart;
};

TEST_F(SamplerTest, SaysNothingBeforeTheRampIsOver) {
    read(1000);
    EXPECT_EQ(sample_at(kStart + kSecond), std::nullopt);
}

TEST_F(SamplerTest, BeginsWithTheEndOfTheRamp) {
    job_.begin_measuring(kStart);
    read(1000);
    const auto interval = sample_at(kStart + 10'000);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->length, 10'000U);
    EXPECT_EQ(interval->monotonic, kStart + 10'000);
    EXPECT_EQ(interval->utc, kUtc);
    EXPECT_EQ(interval->paths[0].operations[0].moments.count, 1U);
    EXPECT_DOUBLE_EQ(interval->paths[0].mean_depth, 0.1);
}

TEST_F(SamplerTest, TellsWhatHappenedSinceTheSampleBefore) {
    job_.begin_measuring(kStart);
    read(100); // shorter than anything later: must not show as a later interval's minimum
    read(900'000);
    ASSERT_TRUE(sample_at(kStart + kSecond));
    job_.path(0).set_state(PathState::change);
    record::on_requeue(job_.path(0).counters, 1000);
    read(50'000);
    read(70'000);
    const auto interval = sample_at(kStart + 2 * kSecond);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->length, kSecond);
    const record::IntervalPath& path = interval->paths[0];
    EXPECT_EQ(path.state, PathState::change);
    EXPECT_EQ(path.requeues, 1U);
    const record::Moments& moments = path.operations[0].moments;
    EXPECT_EQ(moments.count, 2U);
    EXPECT_EQ(moments.bytes, 16'384U);
    EXPECT_EQ(moments.sum, 120'000U);
    EXPECT_DOUBLE_EQ(moments.sum_of_squares, 50e3 * 50e3 + 70e3 * 70e3);
    EXPECT_NEAR(static_cast<double>(moments.min), 50'000, 500);
    EXPECT_NEAR(static_cast<double>(moments.max), 70'000, 700);
    EXPECT_NEAR(static_cast<double>(path.operations[0].p99.value()), 70'000, 700);
}

TEST_F(SamplerTest, NamesTheSettingInForceAndAddsUpAllThatAPathWasIn) {
    JobSlot& job = **block_.add_job({.name = "s",
                                     .iopolicy = "numa",
                                     .paths = {{"p0", "a"}},
                                     .settings = {{"numa", "numa"}, {"path:p0", "numa"}},
                                     .steered = true});
    Sampler sampler(job);
    job.begin_measuring(kStart);
    job.operations(0, kFirstSetting).of(Operation::read).add(900'000, 4096);
    ASSERT_TRUE(sampler.sample(kStart + kSecond, kUtc));
    job.operations(0, kTransitionSetting).of(Operation::read).add(50'000, 4096);
    job.operations(0, 2).of(Operation::read).add(70'000, 4096);
    job.setting_in_force.set(2);
    const auto interval = sampler.sample(kStart + 2 * kSecond, kUtc);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->setting, "path:p0");
    const record::Moments& moments = interval->paths[0].operations[0].moments;
    EXPECT_EQ(moments.count, 2U);
    EXPECT_NEAR(static_cast<double>(moments.min), 50'000, 500);
    EXPECT_NEAR(static_cast<double>(moments.max), 70'000, 700) << "and not that of the interval before";
}

TEST_F(SamplerTest, OfAnIdleIntervalHasNoExtremes) {
    job_.begin_measuring(kStart);
    read(1000);
    ASSERT_TRUE(sample_at(kStart + kSecond));
    const auto interval = sample_at(kStart + 2 * kSecond);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->paths[0].operations[0].moments, record::Moments());
    EXPECT_DOUBLE_EQ(interval->paths[0].mean_depth, 0);
}

TEST_F(SamplerTest, EndsWithTheJob) {
    job_.begin_measuring(kStart);
    ASSERT_TRUE(sample_at(kStart + kSecond));
    job_.counters.ended_at.set(kStart + kSecond + kMillisecond);
    const auto last = sample_at(kStart + 5 * kSecond);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->length, kMillisecond);
    EXPECT_EQ(last->utc, kUtc - 4 * kSecond + kMillisecond);
    EXPECT_EQ(sample_at(kStart + 6 * kSecond), std::nullopt);
}

} // namespace
} // namespace mpath::live
