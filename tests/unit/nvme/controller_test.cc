// SPDX-License-Identifier: GPL-2.0-only
// A controller that is live: events, keep-alives, loss, and its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/controller_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Data = FakeController::Data;

class LiveController : public ControllerTest {
protected:
    /// Connects and starts; the test ends the controller.
    Controller& start(FakeController& fake) {
        auto connected = connect(fake);
        EXPECT_TRUE(connected) << connected.error().text;
        controller_ = std::move(*connected);
        controller_->start(listener_);
        return *controller_;
    }
    void TearDown() override {
        if (controller_) {
            close(*controller_);
        }
    }

    std::unique_ptr<Controller> controller_;
};

// ---- events

TEST_F(LiveController, keeps_one_event_request_outstanding) {
    FakeController fake({});
    start(fake);
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 1; }));
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 2; }));
}

TEST_F(LiveController, reports_the_new_state_after_an_ana_event) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 3, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::inaccessible));
    EXPECT_EQ(controller.path_state(), PathState::inaccessible);
    EXPECT_THAT(listener_.events, ElementsAre("the ANA log changed"));
}

/// Two changes in quick succession, the second before the first was looked at.
TEST_F(LiveController, ends_up_with_the_last_of_several_changes) {
    FakeController fake({});
    start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 0xf, {1}}}));
    fake.change_ana(ana_log_bytes(3, {{1, 2, {1}}}));
    ASSERT_TRUE(run_until([&] { return listener_.events.size() == 2; }));
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 3; }));
    EXPECT_EQ(listener_.states.back(), PathState::non_optimized);
}

TEST_F(LiveController, says_nothing_of_a_state_that_did_not_change) {
    FakeController fake({});
    start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 1, {1}}, {2, 3, {7}}}));
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 2; }));
    EXPECT_THAT(listener_.states, IsEmpty());
}

TEST_F(LiveController, keeps_the_old_state_when_the_log_is_garbage) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 7, {1}}}));
    ASSERT_TRUE(run_until([&] { return listener_.events.size() == 2; }));
    EXPECT_EQ(listener_.events.back(),
              "the ANA log is refused: group 1 has state 7h, which does not exist; the path stays optimized");
    EXPECT_EQ(controller.statistics().ana_logs_refused, 1U);
    EXPECT_EQ(controller.path_state(), PathState::optimized);
    EXPECT_EQ(controller.state(), ControllerState::live);
}

TEST_F(LiveController, follows_a_namespace_into_another_group) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 1, {}}, {4, 2, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_EQ(controller.facts().ana_group, 4U);
}

TEST_F(LiveController, reads_the_log_of_other_events_so_that_they_can_come_again) {
    FakeController fake({});
    start(fake);
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return listener_.events.size() == 2; }));
    EXPECT_THAT(listener_.events, testing::Each(std::string("a namespace's attributes changed")));
}

TEST_F(LiveController, names_an_event_it_does_not_know) {
    FakeController fake({});
    start(fake);
    fake.raise(0x020101);
    ASSERT_TRUE(run_until([&] { return !listener_.events.empty(); }));
    EXPECT_EQ(listener_.events.front(), "asynchronous event of type 1, information 01h, log page 02h");
}

TEST_F(LiveController, an_ana_event_without_ana_does_no_harm) {
    Data data;
    data.controller.cmic = 0;
    FakeController fake(data);
    Controller& controller = start(fake);
    fake.raise(AsyncEvent::kAnaChanged);
    ASSERT_TRUE(run_until([&] { return listener_.events.size() == 2; }));
    EXPECT_THAT(listener_.events.back(), HasSubstr("does not report ANA"));
    EXPECT_EQ(controller.state(), ControllerState::live);
}

TEST_F(LiveController, refused_event_requests_are_reported_once) {
    Data data;
    data.refused[admin_opcode::kAsyncEventRequest] = Status(StatusCode::async_event_limit_exceeded);
    FakeController fake(data);
    Controller& controller = start(fake);
    ASSERT_TRUE(run_until([&] { return !listener_.events.empty(); }));
    EXPECT_THAT(listener_.events.front(), HasSubstr("reports no events"));
    EXPECT_EQ(controller.state(), ControllerState::live);
    EXPECT_EQ(fake.received(admin_opcode::kAsyncEventRequest), 1U);
}

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
