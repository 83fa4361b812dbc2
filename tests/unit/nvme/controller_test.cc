// SPDX-License-Identifier: GPL-2.0-only
// A controller that is live: keep-alives, loss, and its end. Events are in controller_events_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/controller_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Data = FakeController::Data;

// ---- keep-alive and loss

TEST(KeepAlivePeriod, is_half_the_timeout_or_a_quarter_where_traffic_counts) {
    EXPECT_EQ(keep_alive_period(5 * kSecond, false), 2500 * kMillisecond);
    EXPECT_EQ(keep_alive_period(5 * kSecond, true), 1250 * kMillisecond);
}

TEST_F(LiveController, sends_keep_alives_before_it_is_started_too) {
    options_.keep_alive_ms = 20;
    FakeController fake({});
    auto connected = connect(fake);
    ASSERT_TRUE(connected) << connected.error().text;
    controller_ = std::move(*connected);
    EXPECT_TRUE(run_until([&] { return controller_->statistics().keep_alives >= 3; }));
}

TEST_F(LiveController, is_lost_when_a_keep_alive_is_not_answered) {
    options_.keep_alive_ms = 100;
    Data data;
    data.silent = {admin_opcode::kKeepAlive};
    FakeController fake(data);
    Controller& controller = start(fake);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_EQ(controller.state(), ControllerState::lost);
    EXPECT_EQ(listener_.losses.front().code, ETIMEDOUT);
    EXPECT_THAT(listener_.losses.front().text, HasSubstr("no answer to Keep Alive within 0.1 s"));
    EXPECT_THAT(listener_.losses.front().text, StartsWith(controller.facts().address));
    EXPECT_EQ(fake.received(admin_opcode::kKeepAlive), 1U) << "no second one before the first is answered";
}

TEST_F(LiveController, is_lost_when_a_keep_alive_is_refused) {
    options_.keep_alive_ms = 20;
    Data data;
    data.refused[admin_opcode::kKeepAlive] = Status(StatusCode::keep_alive_expired);
    FakeController fake(data);
    start(fake);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_THAT(listener_.losses.front().text, HasSubstr("refuses Keep Alive with status 019h"));
}

struct BadStatus {
    const char* name;
    void (*spoil)(Data&);
    const char* sentence;
};

class ControllerStatus : public LiveController, public testing::WithParamInterface<BadStatus> {};

TEST_P(ControllerStatus, is_seen_with_the_next_keep_alive) {
    options_.keep_alive_ms = 20;
    FakeController fake({});
    start(fake);
    ASSERT_TRUE(run_until([&] { return controller_->statistics().keep_alives >= 1; }));
    EXPECT_THAT(listener_.losses, IsEmpty());
    fake.set(GetParam().spoil);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_THAT(listener_.losses.front().text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(Rows, ControllerStatus,
                         testing::Values(BadStatus{"fatal", [](Data& d) { d.fatal = true; },
                                                   "the controller reports a fatal error (CSTS 00000003h)"},
                                         BadStatus{"disabled", [](Data& d) { d.ready = false; },
                                                   "the controller is not ready any more (CSTS 00000000h)"}),
                         [](const auto& row) { return row.param.name; });

TEST_F(LiveController, can_do_without_the_status_of_a_controller_that_refuses_to_tell_it) {
    options_.keep_alive_ms = 20;
    FakeController fake({});
    start(fake);
    fake.set([](Data& d) { d.refused[kFabricsOpcode] = Status(StatusCode::invalid_field); });
    ASSERT_TRUE(run_until([&] { return controller_->statistics().keep_alives >= 5; }));
    EXPECT_THAT(listener_.losses, IsEmpty());
}

TEST_F(LiveController, is_lost_for_the_reason_it_is_given) {
    FakeController fake({});
    Controller& controller = start(fake);
    controller.fail({ECONNRESET, "an I/O queue broke"});
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_EQ(listener_.losses.front().text, controller.facts().address + ": an I/O queue broke");
    controller.fail({ECONNRESET, "another one, too"});
    run_a_little();
    EXPECT_THAT(listener_.losses, SizeIs(1));
}

TEST_F(LiveController, is_lost_when_the_peer_closes) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.close();
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_EQ(controller.state(), ControllerState::lost);
    EXPECT_EQ(listener_.losses.front().code, ECONNRESET);
    EXPECT_THAT(listener_.losses, SizeIs(1));
}

TEST_F(LiveController, a_loss_before_the_start_is_reported_at_the_start) {
    FakeController fake({});
    auto connected = connect(fake);
    ASSERT_TRUE(connected) << connected.error().text;
    controller_ = std::move(*connected);
    fake.close();
    ASSERT_TRUE(run_until([&] { return controller_->state() == ControllerState::lost; }));
    controller_->start(listener_);
    EXPECT_THAT(listener_.losses, SizeIs(1));
}

// ---- the end

TEST_F(LiveController, shuts_down_in_order) {
    FakeController fake({});
    Controller& controller = start(fake);
    EXPECT_EQ(shutdown(controller), 0);
    EXPECT_EQ(fake.last_cc() & cc::kShutdownMask, cc::kShutdownNormal);
    EXPECT_EQ(fake.last_cc() & cc::kEnable, cc::kEnable);
    EXPECT_EQ(controller.state(), ControllerState::closed);
    EXPECT_THAT(listener_.losses, IsEmpty());
}

TEST_F(LiveController, a_shutdown_that_is_never_confirmed_ends_at_its_deadline) {
    Data data;
    data.shuts_down = false;
    FakeController fake(data);
    Controller& controller = start(fake);
    EXPECT_EQ(shutdown(controller, 200 * kMillisecond), ETIMEDOUT);
    EXPECT_EQ(controller.state(), ControllerState::closed);
}

TEST_F(LiveController, shutting_down_a_lost_controller_only_tidies_up) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.close();
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_EQ(shutdown(controller), ENOTCONN);
    EXPECT_EQ(controller.state(), ControllerState::lost);
}

TEST_F(LiveController, closing_twice_is_closing) {
    FakeController fake({});
    Controller& controller = start(fake);
    close(controller);
    close(controller);
    EXPECT_EQ(controller.state(), ControllerState::closed);
    EXPECT_THAT(listener_.losses, IsEmpty());
}

} // namespace
} // namespace mpath::nvme::test
