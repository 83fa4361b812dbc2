// SPDX-License-Identifier: GPL-2.0-only
#include "live/setting_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/control_block.h"
#include "temporary_directory.h"

namespace mpath::live {
namespace {

using testing::HasSubstr;

class SettingRequestTest : public testing::Test {
protected:
    SettingRequestTest() {
        JobDescription description;
        description.thread_number = 1;
        description.name = "j";
        description.iopolicy = "round-robin";
        description.paths = {{"a", "x"}, {"b", "y"}, {"c", "z"}};
        job_ = *own_block_.add_job(description);
    }
    std::size_t name(const SettingWish& wish) {
        const auto ready = prepare_setting(block_, *job_, wish);
        EXPECT_TRUE(ready) << ready.error().text;
        return find_or_name_setting(*job_, wish);
    }
    /// What the job's I/O thread does at its next look.
    void follow(int refused = 0) {
        const std::uint64_t request = job_->mailbox.requested.get();
        if (refused == 0) {
            job_->setting_in_force.set(job_->mailbox.setting.get());
        }
        job_->mailbox.refused.set(static_cast<std::uint64_t>(refused));
        job_->mailbox.acknowledged_at.set(kSecond + 5);
        job_->mailbox.acknowledged.set(request);
    }

    TemporaryDirectory directory_;
    ControlBlock own_block_ = std::move(ControlBlock::create(directory_.path()).value());
    JobSlot* job_;
    RunningBlock block_ = std::move(
        RunningBlock::open(find_running_blocks(directory_.path(), this_process().value()).at(0)).value());

    void SetUp() override { job_ = block_.jobs().at(0); }
};

TEST_F(SettingRequestTest, WhatTheJobBeginsInIsFoundByPolicyAndPaths) {
    EXPECT_EQ(find_setting(*job_, "round-robin", kAllPaths), kFirstSetting);
    EXPECT_EQ(find_setting(*job_, "round-robin", 0b111), kFirstSetting)
        << "each path by itself is all of them";
    EXPECT_EQ(find_setting(*job_, "round-robin", 0b110), std::nullopt);
    EXPECT_EQ(find_setting(*job_, "numa", kAllPaths), std::nullopt);
    EXPECT_EQ(find_setting(*job_, "", 0), std::nullopt) << "the transition is no setting";
}

TEST_F(SettingRequestTest, AFurtherSettingIsNamedOnce) {
    const SettingWish wish{"numa/path:a+c", "numa", 0b101};
    const std::size_t index = name(wish);
    EXPECT_EQ(index, 2U) << "behind the first and the transition";
    EXPECT_EQ(name(wish), index);
    EXPECT_EQ(job_->settings_named.get(), 3U);
    EXPECT_EQ(job_->settings[index].name.get(), "numa/path:a+c");
    EXPECT_EQ(job_->settings[index].policy.get(), "numa");
    EXPECT_EQ(job_->settings[index].paths.get(), 0b101U);
    EXPECT_EQ(name({"numa", "numa", 0b1111}), 3U) << "bits of paths that the job does not have mean nothing";
    EXPECT_EQ(job_->settings[3].paths.get(), kAllPaths);
}

TEST_F(SettingRequestTest, WhatIsCountedAroundASwitchIsMemoryFromTheFirstRequest) {
    EXPECT_EQ(job_->transition_kept.get(), 0U);
    name({"round-robin", "round-robin", kAllPaths}); // even when the setting is not new
    EXPECT_EQ(job_->transition_kept.get(), 1U);
}

TEST_F(SettingRequestTest, AJobKeepsABoundedNumberOfSettingsApart) {
    for (std::uint64_t index = 2; index < job_->setting_count; ++index) {
        name({"s", "policy" + std::to_string(index), kAllPaths});
    }
    const auto room = prepare_setting(block_, *job_, {"s", "one more", kAllPaths});
    ASSERT_FALSE(room);
    EXPECT_EQ(room.error().code, E2BIG);
    EXPECT_THAT(room.error().text, HasSubstr("job j has been in"));
    EXPECT_TRUE(prepare_setting(block_, *job_, {"s", "policy5", kAllPaths}))
        << "one that it has can be asked for";
}

TEST_F(SettingRequestTest, IsAnsweredWhenTheJobHasFollowed) {
    const std::size_t setting = name({"numa", "numa", kAllPaths});
    const std::uint64_t request = ask(*job_, setting, kSecond);
    EXPECT_EQ(answer_to(*job_, request), std::nullopt);
    EXPECT_EQ(job_->mailbox.requested_at.get(), kSecond);
    follow();
    const auto answer = answer_to(*job_, request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->refused, 0);
    EXPECT_EQ(answer->at, kSecond + 5);
    EXPECT_FALSE(answer->overtaken);
}

TEST_F(SettingRequestTest, MayBeRefused) {
    const std::uint64_t request = ask(*job_, kFollowSchedule, kSecond);
    follow(ENOENT);
    EXPECT_EQ(answer_to(*job_, request)->refused, ENOENT);
}

TEST_F(SettingRequestTest, TheNewestWinsOverOneThatNobodyHasAnswered) {
    const std::uint64_t first = ask(*job_, name({"numa", "numa", kAllPaths}), kSecond);
    const std::size_t setting = name({"latency", "latency", kAllPaths});
    const std::uint64_t second = ask(*job_, setting, kSecond + 1); // the first asker may have died
    EXPECT_GT(second, first);
    follow();
    EXPECT_EQ(job_->setting_in_force.get(), setting);
    EXPECT_TRUE(answer_to(*job_, first)->overtaken);
    EXPECT_FALSE(answer_to(*job_, second)->overtaken);
}

TEST_F(SettingRequestTest, WhoDiesBeforeAskingLeavesNothingToFollow) {
    const SettingWish wish{"numa", "numa", kAllPaths};
    ASSERT_TRUE(prepare_setting(block_, *job_, wish));
    EXPECT_EQ(name(wish), 2U) << "prepared twice, named once";
    job_->mailbox.setting.set(2);
    EXPECT_EQ(job_->mailbox.requested.get(), job_->mailbox.acknowledged.get());
    EXPECT_EQ(latest_setting(*job_), kFirstSetting);
}

TEST_F(SettingRequestTest, TheLatestSettingIsWhatWasAskedForUntilTheJobFollows) {
    EXPECT_EQ(latest_setting(*job_), kFirstSetting);
    const std::size_t setting = name({"numa", "numa", kAllPaths});
    ask(*job_, setting, kSecond);
    EXPECT_EQ(latest_setting(*job_), setting);
    follow();
    EXPECT_EQ(latest_setting(*job_), setting);
    ask(*job_, kFollowSchedule, kSecond);
    EXPECT_EQ(latest_setting(*job_), setting) << "nobody knows yet where the schedule is";
}

} // namespace
} // namespace mpath::live
