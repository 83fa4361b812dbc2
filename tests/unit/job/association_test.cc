// SPDX-License-Identifier: GPL-2.0-only
// A path's life on a clock that stands still: what happens at which second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/job/association_fixture.h"

namespace mpath::job::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using FirstConnect = AssociationTest;
using Loss = AssociationTest;
using Return = AssociationTest;
using Shutdown = AssociationTest;
using Told = AssociationTest;

// ---- the first attempt

TEST_F(FirstConnect, is_handed_to_whoever_started_it) {
    connector_.script.state = PathState::non_optimized;
    start({connects()});
    ASSERT_TRUE(first_);
    ASSERT_TRUE(*first_);
    EXPECT_EQ((**first_)->facts()->address, "127.0.0.1:4420");
    EXPECT_EQ(news_.state(kPath), PathState::non_optimized);
    EXPECT_EQ(life(), "live");
    EXPECT_FALSE(news_.connection_waits(kPath));
    EXPECT_THAT(events(), IsEmpty());
}

/// One portal is busy: the job runs on the others, and this one joins them when it can.
TEST_F(FirstConnect, that_is_refused_is_tried_again_like_a_lost_one) {
    start({refuses(kBusy), refuses(kBusy), connects()});
    ASSERT_TRUE(first_);
    EXPECT_EQ(first_->error().code, EBUSY);
    EXPECT_EQ(life(), "connecting");
    run_to(20);
    EXPECT_EQ(life(), "live");
    EXPECT_TRUE(news_.connection_waits(kPath));
    EXPECT_THAT(events(), ElementsAre("0 refused: the target is out of controllers",
                                      "20 connected: after 20.0 s and 2 attempts"));
}

TEST_F(FirstConnect, that_is_refused_for_good_is_not_tried_again) {
    start({refuses(kForGood)});
    EXPECT_EQ(first_->error().code, ENODEV);
    EXPECT_EQ(life(), "gone");
    run_to(1000);
    EXPECT_EQ(connector_.begun.size(), 1U);
    EXPECT_THAT(events(), ElementsAre("0 refused: the target has no such subsystem",
                                      "0 given_up: given up: what the target says is final"));
}

TEST_F(FirstConnect, that_is_refused_is_not_tried_again_with_ctrl_loss_tmo_0) {
    life_.ctrl_loss_tmo = 0;
    start({refuses(kForGood)});
    EXPECT_EQ(life(), "gone");
    EXPECT_THAT(events(), ElementsAre("0 refused: the target has no such subsystem",
                                      "0 given_up: given up at once (ctrl_loss_tmo=0)"));
}

// ---- loss

TEST_F(Loss, is_an_event_and_begins_the_reconnect) {
    start_and_lose({refuses()});
    EXPECT_EQ(life(), "connecting");
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke"));
    const auto event = news_.event(kPath);
    EXPECT_NE(event, live::EventLog::kNoEvent) << "the I/O thread tells later what it cost";
    run_to(0);
    EXPECT_EQ(association_->state(), AssociationState::waiting);
    EXPECT_EQ(connector_.script.ended, 1) << "what was left of it is taken down";
}

TEST_F(Loss, that_the_io_thread_has_told_of_makes_no_second_event) {
    start({connects()});
    EXPECT_TRUE(news_.claim_loss(kPath));
    association_->lose("an I/O connection broke");
    EXPECT_EQ(life(), "connecting");
    EXPECT_THAT(events(), IsEmpty());
}

TEST_F(Loss, reported_again_changes_nothing) {
    start_and_lose({refuses()});
    association_->lose("an I/O connection broke");
    run_to(10);
    EXPECT_THAT(attempts(), ElementsAre(10));
}

TEST_F(Loss, of_what_nobody_took_yet_leaves_no_dead_queues_behind) {
    start_and_lose({connects()});
    run_to(10);
    EXPECT_TRUE(news_.connection_waits(kPath));
    connector_.script.lose("it broke again");
    EXPECT_FALSE(news_.connection_waits(kPath));
    EXPECT_EQ(life(), "connecting");
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke", "10 connected: after 10.0 s and 1 attempt",
                                      "10 lost: it broke again"));
}

TEST_F(Loss, each_gets_all_its_attempts) {
    life_.ctrl_loss_tmo = 20 * kSecond;
    start_and_lose({refuses(), connects()});
    run_to(20);
    connector_.then({refuses()});
    connector_.script.lose("it broke again");
    run_to(30);
    EXPECT_EQ(life(), "connecting");
    run_to(40);
    EXPECT_EQ(life(), "gone");
}

TEST_F(Loss, tells_a_refusal_when_it_is_another_one) {
    start_and_lose({refuses(), refuses(), refuses(kBusy), refuses(kBusy), refuses(kForGood)});
    run_to(100);
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke", "10 refused: 127.0.0.1:4420: connection refused",
                                      "30 refused: the target is out of controllers",
                                      "50 refused: the target has no such subsystem",
                                      "50 given_up: given up: what the target says is final"));
}

TEST_F(Loss, fast_io_fail_tmo_is_an_event_and_no_end) {
    life_.fast_io_fail_tmo = 5 * kSecond;
    start_and_lose({refuses(), connects()});
    run_to(5);
    EXPECT_EQ(life(), "failing");
    run_to(20);
    EXPECT_EQ(life(), "live");
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke",
                                      "5 failing: I/O no longer waits for it after 5.0 s "
                                      "(fast_io_fail_tmo)",
                                      "10 refused: 127.0.0.1:4420: connection refused",
                                      "20 connected: after 20.0 s and 2 attempts"));
}

TEST_F(Loss, fast_io_fail_tmo_has_no_effect_on_a_path_that_is_back_in_time) {
    life_.fast_io_fail_tmo = 15 * kSecond;
    start_and_lose({connects()});
    run_to(100);
    EXPECT_EQ(life(), "live");
}

TEST_F(Loss, the_end_of_it_is_an_event) {
    life_.ctrl_loss_tmo = 20 * kSecond;
    start_and_lose({refuses()});
    run_to(100);
    EXPECT_EQ(association_->state(), AssociationState::gone);
    EXPECT_EQ(events().back(), "20 given_up: given up after 20.0 s and 2 attempts (ctrl_loss_tmo)");
}

// ---- return

TEST_F(Return, hands_queues_over_with_the_state_of_now) {
    start_and_lose({connects()});
    connector_.script.state = PathState::inaccessible;
    run_to(10);
    EXPECT_EQ(news_.state(kPath), PathState::inaccessible);
    EXPECT_NE(news_.take_connection(kPath), nullptr);
    EXPECT_EQ(life(), "live");
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke", "10 connected: after 10.0 s and 1 attempt",
                                      "10 state: optimized -> inaccessible"));
}

TEST_F(Return, to_another_device_is_refused_until_it_is_the_right_one) {
    device_ = JobDevice{{DeviceIdentity::Kind::uuid, "a"}, 512, 1 << 20};
    connector_.script.facts.identity = device_->identity;
    start_and_lose({connects()});
    connector_.script.facts.identity.value = "b";
    run_to(10);
    EXPECT_EQ(life(), "connecting");
    EXPECT_EQ(connector_.script.ended, 2) << "the one that was lost, and the wrong one";
    connector_.script.facts.identity.value = "a";
    run_to(20);
    EXPECT_EQ(life(), "live");
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke",
                                      "10 refused: 127.0.0.1:4420: it leads to another device now (uuid b, "
                                      "before uuid a)",
                                      "20 connected: after 20.0 s and 2 attempts"));
}

TEST_F(Return, to_a_formatted_device_is_refused) {
    device_ = JobDevice{{}, 512, 1 << 20};
    start_and_lose({connects()});
    connector_.script.facts.limits.block_size = 4096;
    run_to(10);
    EXPECT_EQ(life(), "connecting");
    EXPECT_EQ(events().back(), "10 refused: 127.0.0.1:4420: the device was formatted: it has blocks of 4096 "
                               "bytes, before of 512");
}

TEST_F(Return, to_a_resized_device_is_told) {
    start_and_lose({connects()});
    connector_.script.facts.limits.size = 1 << 19;
    run_to(10);
    EXPECT_EQ(life(), "live");
    EXPECT_EQ(events().back(), "10 namespace_changed: resized from 1048576 to 524288 bytes");
}

/// The report is about the queues before; the I/O thread has not seen yet that there are new ones.
TEST_F(Return, an_old_loss_is_not_blamed_on_it) {
    start_and_lose({connects()});
    run_to(10);
    EXPECT_FALSE(news_.claim_loss(kPath));
    EXPECT_NE(news_.take_connection(kPath), nullptr);
    EXPECT_TRUE(news_.claim_loss(kPath));
}

// ---- what the controller says while it lives

TEST_F(Told, a_new_state_is_an_event) {
    start({connects()});
    connector_.script.listener->on_path_state(PathState::change, {});
    EXPECT_EQ(news_.state(kPath), PathState::change);
    EXPECT_THAT(events(), ElementsAre("0 state: optimized -> change"));
    EXPECT_NE(news_.event(kPath), live::EventLog::kNoEvent);
}

TEST_F(Told, the_same_state_is_a_report_and_no_event) {
    start({connects()});
    const std::uint32_t reports = news_.state_reports(kPath);
    connector_.script.listener->on_path_state(PathState::optimized, {});
    EXPECT_EQ(news_.state_reports(kPath), reports + 1);
    EXPECT_THAT(events(), IsEmpty());
}

TEST_F(Told, a_request_for_the_state_goes_to_the_controller) {
    start({connects()});
    association_->refresh_state();
    EXPECT_EQ(connector_.script.refreshes, 1);
}

TEST_F(Told, a_request_for_the_state_of_a_lost_path_is_answered_at_once) {
    start_and_lose({refuses()});
    const std::uint32_t reports = news_.state_reports(kPath);
    association_->refresh_state();
    EXPECT_EQ(news_.state_reports(kPath), reports + 1);
}

TEST_F(Told, a_resize_is_told_once) {
    start({connects()});
    connector_.script.facts.limits.size = 1 << 21;
    connector_.script.listener->on_device_changed("resized from 1048576 to 2097152 bytes");
    connector_.script.lose("it broke");
    run_to(10);
    EXPECT_THAT(events(), ElementsAre("0 namespace_changed: resized from 1048576 to 2097152 bytes",
                                      "0 lost: it broke", "10 connected: after 10.0 s and 1 attempt"));
}

// ---- the end of the job

TEST_F(Shutdown, of_a_live_path_is_in_order) {
    start({connects()});
    stop();
    EXPECT_EQ(connector_.script.ended, 1);
    EXPECT_THAT(events(), IsEmpty());
}

TEST_F(Shutdown, does_not_wait_for_the_next_attempt) {
    start_and_lose({refuses()});
    run_to(3);
    EXPECT_EQ(association_->state(), AssociationState::waiting);
    stop();
    run_to(100);
    EXPECT_THAT(attempts(), IsEmpty());
}

TEST_F(Shutdown, does_not_wait_for_an_attempt_to_end) {
    start_and_lose({hangs(60 * kSecond)});
    run_to(12);
    EXPECT_EQ(association_->state(), AssociationState::connecting);
    stop();
    EXPECT_THAT(events(), ElementsAre("0 lost: it broke"));
}

TEST_F(Shutdown, during_the_first_attempt_tells_whoever_waits_for_it) {
    start({hangs(60 * kSecond)});
    EXPECT_FALSE(first_);
    stop();
    ASSERT_TRUE(first_);
    EXPECT_EQ(first_->error().code, ECANCELED);
}

TEST_F(Shutdown, while_a_lost_controller_is_taken_down) {
    connector_.script.end_takes = 100 * kMillisecond;
    start_and_lose({refuses()});
    EXPECT_EQ(association_->state(), AssociationState::closing);
    stop();
    EXPECT_EQ(connector_.script.ended, 1);
}

TEST_F(Shutdown, of_a_path_that_is_gone) {
    life_.ctrl_loss_tmo = 0;
    start_and_lose({refuses()});
    run_to(1);
    EXPECT_EQ(association_->state(), AssociationState::gone);
    stop();
}

/// It has connected in the very moment in which it is to end.
TEST_F(Shutdown, does_not_forget_what_has_just_connected) {
    start_and_lose({connects(5 * kSecond)});
    run_to(14);
    EXPECT_EQ(association_->state(), AssociationState::connecting);
    reactor_.timers().add(begin_ + 15 * kSecond, [this] { association_->stop([this] { stopped_ = true; }); });
    run_to(16);
    EXPECT_TRUE(stopped_);
    EXPECT_EQ(life(), "live");
    EXPECT_EQ(connector_.script.ended, 2);
}

} // namespace
} // namespace mpath::job::test
