// SPDX-License-Identifier: GPL-2.0-only
// What a live control session notices of its target and of the state of its port, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/iscsi_control/control_fixture.h"

namespace mpath::iscsi::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using Data = FakeTarget::Data;

using KeepAlive = LiveControl;
using StateWatch = LiveControl;
using Transition = LiveControl;
using SessionEnd = LiveControl;

// ---- whether the target is there

TEST_F(KeepAlive, a_target_that_answers_no_ping_is_lost) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) { data.pings_answered = false; });
    next_look();
    settle(target);
    EXPECT_THAT(listener_.losses, IsEmpty());
    clock_.leap(options_.keep_alive_ms * kMillisecond);
    ASSERT_TRUE(run_until_lost());
    EXPECT_EQ(listener_.losses.front().code, ETIMEDOUT);
    EXPECT_EQ(listener_.losses.front().text, target.address().text() + ": no answer to NOP-Out within 5.0 s");
}

TEST_F(KeepAlive, a_target_that_answers_pings_alone_is_lost_as_well) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) { data.silent = {scsi_opcode::kTestUnitReady}; });
    next_look();
    settle(target);
    clock_.leap(options_.keep_alive_ms * kMillisecond);
    ASSERT_TRUE(run_until_lost());
    EXPECT_THAT(listener_.losses.front().text, HasSubstr("no answer to TEST UNIT READY"));
}

TEST_F(KeepAlive, nobody_is_disturbed_where_it_is_off) {
    options_.keep_alive_ms = 0;
    FakeTarget target;
    start(target);
    const unsigned before = target.received(scsi_opcode::kTestUnitReady);
    clock_.leap(3600 * kSecond);
    settle(target);
    EXPECT_EQ(target.received(scsi_opcode::kTestUnitReady), before);
}

TEST_F(KeepAlive, a_path_of_no_use_is_looked_at_even_then) {
    options_.keep_alive_ms = 0;
    Data data;
    data.state = AluaState::unavailable;
    FakeTarget target(data);
    start(target);
    target.set([](Data& now) { now.state = AluaState::active_optimized; });
    clock_.leap(10 * kSecond);
    EXPECT_TRUE(run_until([this] { return !listener_.states.empty(); }));
}

TEST_F(KeepAlive, a_closed_connection_is_a_loss) {
    FakeTarget target;
    start(target);
    target.close();
    ASSERT_TRUE(run_until_lost());
    EXPECT_THAT(listener_.losses, SizeIs(1));
}

// ---- the state

TEST_F(StateWatch, says_nothing_while_nothing_changes) {
    FakeTarget target;
    start(target);
    for (int i = 0; i < 3; ++i) {
        next_look();
        settle(target);
    }
    EXPECT_THAT(listener_.states, IsEmpty());
    EXPECT_THAT(listener_.events, IsEmpty());
    EXPECT_THAT(listener_.losses, IsEmpty());
}

TEST_F(StateWatch, tells_a_new_state_with_its_own_name) {
    FakeTarget target;
    ControlSession& session = start(target);
    target.set([](Data& data) {
        data.state = AluaState::standby;
        data.attentions = {kStatesChanged};
    });
    next_look();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(Pair(PathState::inaccessible, "standby")));
    EXPECT_EQ(session.path_state(), PathState::inaccessible);
    EXPECT_EQ(session.state_name(), "standby");
}

/// Both are of no use, but not the same to whoever reads the record.
TEST_F(StateWatch, tells_of_a_change_of_the_name_alone) {
    Data data;
    data.state = AluaState::standby;
    FakeTarget target(data);
    start(target);
    target.set([](Data& now) { now.state = AluaState::unavailable; });
    next_look();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(Pair(PathState::inaccessible, "unavailable")));
}

/// Not every target raises a unit attention.
TEST_F(StateWatch, notices_what_it_was_not_told_of) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) { data.state = AluaState::active_non_optimized; });
    next_look();
    EXPECT_TRUE(run_until([this] { return !listener_.states.empty(); }));
}

TEST_F(StateWatch, notices_a_change_between_coming_up_and_the_start) {
    FakeTarget target;
    Connected session = connect(target);
    ASSERT_TRUE(session) << session.error().text;
    session_ = std::move(*session);
    target.set([](Data& data) { data.state = AluaState::active_non_optimized; });
    session_->start(listener_);
    EXPECT_TRUE(run_until([this] { return !listener_.states.empty(); }));
}

TEST_F(StateWatch, answers_who_asks_at_once_and_even_if_nothing_has_changed) {
    FakeTarget target;
    ControlSession& session = start(target);
    session.refresh_state();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(Pair(PathState::optimized, "")));
}

TEST_F(StateWatch, answers_who_asks_even_if_the_state_can_not_be_read) {
    FakeTarget target;
    ControlSession& session = start(target);
    target.set([](Data& data) { data.refused = {{scsi_opcode::kMaintenanceIn, sense(4, 0x44, 0)}}; });
    session.refresh_state();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(Pair(PathState::optimized, "")));
    EXPECT_THAT(listener_.events,
                ElementsAre("the target refuses REPORT TARGET PORT GROUPS with status 02h, sense 4/44/00 "
                            "(internal target failure); the path stays optimized"));
}

TEST_F(StateWatch, goes_by_test_unit_ready_where_no_states_are_reported) {
    Data data;
    data.inquiry = inquiry_data(0, 0);
    data.pages[vpd_page::kIdentification] = identification(1, false);
    FakeTarget target(data);
    Connected connected = connect(target);
    ASSERT_TRUE(connected) << connected.error().text;
    session_ = std::move(*connected);
    session_->start(listener_);
    target.set([](Data& now) { now.refused = {{scsi_opcode::kTestUnitReady, kStandby}}; });
    session_->refresh_state();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    EXPECT_EQ(listener_.states.back().second, "standby");
    settle(target);
    target.set([](Data& now) { now.refused.clear(); });
    next_look();
    EXPECT_TRUE(run_until([this] { return listener_.states.back().first == PathState::optimized; }));
}

TEST_F(StateWatch, looks_at_once_when_a_message_tells_of_a_change) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) { data.state = AluaState::active_non_optimized; });
    target.send_async(async_event::kScsi, kStatesChanged);
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(Pair(PathState::non_optimized, "")));
}

// ---- transitions

TEST_F(Transition, is_watched_closely_until_it_is_over) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) {
        data.state = AluaState::transitioning;
        data.refused = {{scsi_opcode::kTestUnitReady, kInTransition}};
    });
    next_look();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    const unsigned before = target.received(scsi_opcode::kTestUnitReady);
    ASSERT_TRUE(run_until([&] { return target.received(scsi_opcode::kTestUnitReady) >= before + 2; }));
    target.set([](Data& data) {
        data.state = AluaState::active_optimized;
        data.refused.clear();
    });
    ASSERT_TRUE(run_until([this] { return listener_.states.size() == 2; }));
    EXPECT_THAT(listener_.states,
                ElementsAre(Pair(PathState::change, "transitioning"), Pair(PathState::optimized, "")));
    clock_.leap(120 * kSecond);
    settle(target);
    EXPECT_THAT(listener_.losses, IsEmpty()) << "its limit is not watched any more";
}

TEST_F(Transition, that_does_not_end_in_time_ends_the_path) {
    Data data;
    data.transition_time = 4;
    FakeTarget target(data);
    start(target);
    target.set([](Data& now) { now.state = AluaState::transitioning; });
    session_->refresh_state();
    ASSERT_TRUE(run_until([this] { return !listener_.states.empty(); }));
    clock_.leap(3 * kSecond);
    settle(target);
    EXPECT_THAT(listener_.losses, IsEmpty());
    clock_.leap(2 * kSecond);
    ASSERT_TRUE(run_until_lost());
    EXPECT_EQ(listener_.losses.front().text,
              target.address().text() + ": target port group 2 is in transition for 4 s");
}

// ---- the end

TEST_F(SessionEnd, is_told_to_the_target) {
    FakeTarget target;
    start(target);
    EXPECT_EQ(log_out(*session_), 0);
    EXPECT_EQ(target.logouts(), 1U);
    EXPECT_THAT(listener_.losses, IsEmpty());
    session_.reset();
}

TEST_F(SessionEnd, does_not_wait_longer_than_it_may) {
    Data data;
    data.logout_answered = false;
    FakeTarget target(data);
    start(target);
    EXPECT_EQ(log_out(*session_, 50 * kMillisecond), ETIMEDOUT);
    session_.reset();
}

TEST_F(SessionEnd, does_not_wait_for_a_command_either) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) { data.silent = {scsi_opcode::kTestUnitReady}; });
    const unsigned asked = target.received(scsi_opcode::kTestUnitReady);
    next_look();
    ASSERT_TRUE(run_until([&] { return target.received(scsi_opcode::kTestUnitReady) > asked; }));
    const SystemClock real;
    const Nanoseconds begun = real.now();
    EXPECT_NE(log_out(*session_, 50 * kMillisecond), 0);
    EXPECT_LT(real.now() - begun, options_.keep_alive_ms * kMillisecond / 2);
    EXPECT_THAT(listener_.losses, IsEmpty()) << "it was our doing";
    session_.reset();
}

TEST_F(SessionEnd, comes_as_a_loss_when_we_give_it_up) {
    FakeTarget target;
    start(target).fail({ECONNRESET, "an I/O timed out"});
    ASSERT_THAT(listener_.losses, SizeIs(1));
    EXPECT_THAT(listener_.losses.front().text, HasSubstr("an I/O timed out"));
    EXPECT_NE(log_out(*session_), 0);
    EXPECT_THAT(listener_.losses, SizeIs(1));
    session_.reset();
}

TEST_F(SessionEnd, before_the_start_is_told_by_the_start) {
    FakeTarget target;
    Connected session = connect(target);
    ASSERT_TRUE(session) << session.error().text;
    session_ = std::move(*session);
    target.close();
    for (int i = 0; i < 50; ++i) {
        reactor_->run(kMillisecond);
    }
    session_->start(listener_);
    EXPECT_THAT(listener_.losses, SizeIs(1));
}

TEST_F(SessionEnd, is_granted_to_a_target_that_asks_for_it) {
    FakeTarget target;
    start(target);
    target.send_async(async_event::kLogoutRequest);
    ASSERT_TRUE(run_until_lost());
    EXPECT_EQ(target.logouts(), 1U) << "in order";
    EXPECT_EQ(listener_.losses.front().text, target.address().text() + ": the target asked to log out");
}

TEST_F(SessionEnd, is_believed_to_a_target_that_announces_it) {
    for (const std::uint8_t event : {async_event::kDropConnection, async_event::kDropAllConnections}) {
        listener_.losses.clear();
        FakeTarget target;
        start(target);
        target.send_async(event);
        ASSERT_TRUE(run_until_lost());
        EXPECT_THAT(listener_.losses.front().text, HasSubstr("announced that it drops the connection"));
        log_out(*session_);
        session_.reset();
    }
}

TEST_F(SessionEnd, does_not_come_from_a_message_of_another_kind) {
    FakeTarget target;
    start(target);
    target.send_async(async_event::kVendor);
    ASSERT_TRUE(run_until([this] { return !listener_.events.empty(); }));
    EXPECT_THAT(listener_.events, ElementsAre("asynchronous message 255"));
    EXPECT_THAT(listener_.losses, IsEmpty());
}

} // namespace
} // namespace mpath::iscsi::test
