// SPDX-License-Identifier: GPL-2.0-only
// What a live controller says of itself: events, ANA states, changes of the namespace.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/controller_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Data = FakeController::Data;

using ControllerEvents = LiveController;
using AnaUpdate = LiveController;
using AnaTransition = LiveController;
using NamespaceChange = LiveController;

// ---- events

TEST_F(ControllerEvents, keeps_one_event_request_outstanding) {
    FakeController fake({});
    start(fake);
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 1; }));
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 2; }));
}

/// Between the two a change could go by without a request to answer it with.
TEST_F(ControllerEvents, asks_for_the_next_event_before_it_looks_at_this_one) {
    FakeController fake({});
    start(fake);
    run_a_little(); // the log read of the start
    fake.change_ana(ana_log_bytes(2, {{1, 2, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    std::vector<unsigned> opcodes;
    for (const Sqe& sqe : fake.commands()) {
        opcodes.push_back(sqe.opcode);
    }
    const auto first = std::find(opcodes.begin(), opcodes.end(), unsigned{admin_opcode::kAsyncEventRequest});
    const auto second = std::find(first + 1, opcodes.end(), unsigned{admin_opcode::kAsyncEventRequest});
    EXPECT_GE(std::count(second, opcodes.end(), unsigned{admin_opcode::kGetLogPage}), 1);
}

TEST_F(ControllerEvents, reports_the_new_state_after_an_ana_event) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 3, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::inaccessible));
    EXPECT_EQ(controller.path_state(), PathState::inaccessible);
    EXPECT_THAT(listener_.events, IsEmpty()) << "the state says it";
}

/// Two changes in quick succession, the second before the first was looked at.
TEST_F(ControllerEvents, ends_up_with_the_last_of_several_changes) {
    FakeController fake({});
    start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 0xf, {1}}}));
    fake.change_ana(ana_log_bytes(3, {{1, 2, {1}}}));
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 3; }));
    ASSERT_TRUE(run_until(
        [&] { return !listener_.states.empty() && listener_.states.back() == PathState::non_optimized; }));
    run_a_little();
    EXPECT_EQ(listener_.states.back(), PathState::non_optimized);
}

TEST_F(ControllerEvents, says_nothing_of_a_state_that_did_not_change) {
    FakeController fake({});
    start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 1, {1}}, {2, 3, {7}}}));
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 2; }));
    EXPECT_THAT(listener_.states, IsEmpty());
}

TEST_F(ControllerEvents, keeps_the_old_state_when_the_log_is_garbage) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 7, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.events.empty(); }));
    EXPECT_EQ(listener_.events.back(),
              "the ANA log is refused: group 1 has state 7h, which does not exist; the path stays optimized");
    EXPECT_EQ(controller.statistics().ana_logs_refused, 1U);
    EXPECT_EQ(controller.path_state(), PathState::optimized);
    EXPECT_EQ(controller.state(), ControllerState::live);
}

TEST_F(ControllerEvents, follows_a_namespace_into_another_group) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 1, {}}, {4, 2, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_EQ(controller.facts().group, 4U);
}

TEST_F(ControllerEvents, reads_the_log_of_other_events_so_that_they_can_come_again) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return controller.statistics().events == 2; }));
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 3; }));
    EXPECT_THAT(listener_.events, IsEmpty()) << "nothing of the namespace has changed";
}

TEST_F(ControllerEvents, names_an_event_it_does_not_know) {
    FakeController fake({});
    start(fake);
    fake.raise(0x020101);
    ASSERT_TRUE(run_until([&] { return !listener_.events.empty(); }));
    EXPECT_EQ(listener_.events.front(), "asynchronous event of type 1, information 01h, log page 02h");
}

TEST_F(ControllerEvents, an_ana_event_without_ana_does_no_harm) {
    Data data;
    data.controller.cmic = 0;
    FakeController fake(data);
    Controller& controller = start(fake);
    fake.raise(AsyncEvent::kAnaChanged);
    ASSERT_TRUE(run_until([&] { return !listener_.events.empty(); }));
    EXPECT_THAT(listener_.events.back(), HasSubstr("does not report ANA"));
    EXPECT_EQ(controller.state(), ControllerState::live);
}

TEST_F(ControllerEvents, refused_event_requests_are_reported_once) {
    Data data;
    data.refused[admin_opcode::kAsyncEventRequest] = Status(StatusCode::async_event_limit_exceeded);
    FakeController fake(data);
    Controller& controller = start(fake);
    ASSERT_TRUE(run_until([&] { return !listener_.events.empty(); }));
    EXPECT_THAT(listener_.events.front(), HasSubstr("reports no events"));
    EXPECT_EQ(controller.state(), ControllerState::live);
    EXPECT_EQ(fake.received(admin_opcode::kAsyncEventRequest), 1U);
}

// ---- the ANA log

/// The change comes after the target has put the log together, and before we have it.
TEST_F(AnaUpdate, a_change_during_the_read_has_the_log_read_once_more) {
    FakeController fake({});
    start(fake);
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 1; }));
    run_a_little(); // the log read of the start
    fake.change_ana_during_read(ana_log_bytes(3, {{1, 2, {1}}}));
    fake.change_ana(ana_log_bytes(2, {{1, 3, {1}}}));
    ASSERT_TRUE(run_until([&] { return listener_.states.size() == 2; }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::inaccessible, PathState::non_optimized));
}

/// A change between the log read of the connect and the first request for events makes no event with some
/// targets.
TEST_F(AnaUpdate, a_change_before_the_start_is_found_without_an_event) {
    FakeController fake({});
    auto connected = connect(fake);
    ASSERT_TRUE(connected) << connected.error().text;
    controller_ = std::move(*connected);
    fake.set([](Data& d) { d.ana_log = ana_log_bytes(2, {{1, 3, {1}}}); });
    controller_->start(listener_);
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::inaccessible));
}

TEST_F(AnaUpdate, finds_a_change_on_request_that_made_no_event) {
    FakeController fake({});
    Controller& controller = start(fake);
    run_a_little();
    fake.set([](Data& d) { d.ana_log = ana_log_bytes(2, {{1, 3, {1}}}); });
    controller.refresh_state();
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::inaccessible));
}

TEST_F(AnaUpdate, finds_out_without_an_event_that_a_path_is_usable_again) {
    options_.keep_alive_ms = 500;
    FakeController fake({});
    start(fake);
    run_a_little();
    fake.change_ana(ana_log_bytes(2, {{1, 3, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    fake.set([](Data& d) { d.ana_log = ana_log_bytes(3, {{1, 1, {1}}}); });
    ASSERT_TRUE(run_until([&] { return listener_.states.size() == 2; }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::inaccessible, PathState::optimized));
}

TEST_F(AnaUpdate, answers_a_request_with_the_old_state_when_nothing_changed) {
    FakeController fake({});
    Controller& controller = start(fake);
    run_a_little();
    controller.refresh_state();
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::optimized));
}

TEST_F(AnaUpdate, answers_a_request_with_the_old_state_when_the_log_is_refused) {
    FakeController fake({});
    Controller& controller = start(fake);
    run_a_little();
    fake.set(
        [](Data& d) { d.refused[admin_opcode::kGetLogPage] = Status(StatusCode::internal_error, true); });
    controller.refresh_state();
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::optimized));
    EXPECT_THAT(listener_.events, ElementsAre("the controller refuses Get Log Page (ANA) with status 006h "
                                              "(Internal Error), do not retry; the path stays optimized"));
    EXPECT_EQ(controller.state(), ControllerState::live);
}

/// Nothing may stay stuck when a controller answers I/O with ANA statuses it has no right to.
TEST_F(AnaUpdate, answers_every_request_to_a_controller_without_ana) {
    Data data;
    data.controller.cmic = 0;
    FakeController fake(data);
    Controller& controller = start(fake);
    controller.refresh_state();
    controller.refresh_state();
    EXPECT_THAT(listener_.states, ElementsAre(PathState::optimized, PathState::optimized));
    EXPECT_THAT(listener_.events, SizeIs(1)) << "it is said once";
    EXPECT_EQ(fake.received(admin_opcode::kGetLogPage), 0U);
}

/// The answer to the one under way may be older than what the second one asks about.
TEST_F(AnaUpdate, a_request_during_a_read_is_answered_by_the_next_read) {
    FakeController fake({});
    Controller& controller = start(fake);
    run_a_little();
    const unsigned reads = fake.received(admin_opcode::kGetLogPage);
    controller.refresh_state();
    controller.refresh_state();
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::optimized));
    EXPECT_EQ(fake.received(admin_opcode::kGetLogPage), reads + 2);
}

TEST_F(AnaUpdate, a_read_that_failed_is_made_again_by_itself) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 7, {1}}}));
    ASSERT_TRUE(run_until([&] { return controller.statistics().ana_logs_refused == 1; }));
    run_a_little();
    clock_.leap(kSecond);
    ASSERT_TRUE(run_until([&] { return controller.statistics().ana_logs_refused == 2; }));
    run_a_little();
    EXPECT_THAT(listener_.events, SizeIs(1)) << "the same trouble is told once";
    fake.set([](Data& d) { d.ana_log = ana_log_bytes(3, {{1, 2, {1}}}); });
    clock_.leap(2 * kSecond);
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::non_optimized));
}

// ---- transitions

Data in_transition() {
    Data data;
    data.controller.anatt = 100;
    data.ana_log = ana_log_bytes(1, {{1, 0xf, {1}}});
    return data;
}

TEST_F(AnaTransition, that_outlasts_twice_anatt_ends_the_association) {
    options_.keep_alive_ms = 0;
    FakeController fake(in_transition());
    Controller& controller = start(fake);
    run_a_little();
    clock_.leap(150 * kSecond);
    run_a_little();
    EXPECT_EQ(controller.state(), ControllerState::live);
    clock_.leap(50 * kSecond);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_THAT(listener_.losses.front().text,
                HasSubstr("ANA group 1 is in the state change for 200 s, twice ANATT"));
}

TEST_F(AnaTransition, that_begins_during_the_run_has_the_same_limit) {
    options_.keep_alive_ms = 0;
    Data data = in_transition();
    data.ana_log = ana_log_bytes(1, {{1, 1, {1}}});
    FakeController fake(data);
    start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 0xf, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    run_a_little();
    clock_.leap(200 * kSecond);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
}

TEST_F(AnaTransition, that_ends_in_time_is_forgotten) {
    options_.keep_alive_ms = 0;
    FakeController fake(in_transition());
    Controller& controller = start(fake);
    fake.change_ana(ana_log_bytes(2, {{1, 2, {1}}}));
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    run_a_little();
    clock_.leap(1000 * kSecond);
    run_a_little();
    EXPECT_EQ(controller.state(), ControllerState::live);
}

/// I/O that is answered with transition statuses asks again and again; that buys the target no time.
TEST_F(AnaTransition, is_not_prolonged_by_looking_at_it) {
    options_.keep_alive_ms = 0;
    FakeController fake(in_transition());
    Controller& controller = start(fake);
    run_a_little();
    clock_.leap(150 * kSecond);
    controller.refresh_state();
    ASSERT_TRUE(run_until([&] { return !listener_.states.empty(); }));
    EXPECT_THAT(listener_.states, ElementsAre(PathState::change));
    run_a_little();
    clock_.leap(50 * kSecond);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
}

// ---- the namespace

TEST_F(NamespaceChange, resize_is_told_and_the_facts_follow) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.set([](Data& d) { d.name_space.nsze = 4096; });
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return listener_.namespaces.size() == 1; }));
    fake.set([](Data& d) { d.name_space.nsze = 1024; });
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return listener_.namespaces.size() == 2; }));
    EXPECT_THAT(listener_.namespaces,
                ElementsAre("resized from 1048576 to 2097152 bytes", "resized from 2097152 to 524288 bytes"));
    EXPECT_EQ(controller.facts().limits.size, 524288U);
    EXPECT_EQ(controller.state(), ControllerState::live);
}

TEST_F(NamespaceChange, of_another_namespace_is_none_of_ours) {
    FakeController fake({});
    Controller& controller = start(fake);
    fake.set([](Data& d) { d.nsids = {1, 2}; });
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kAsyncEventRequest) == 2; }));
    run_a_little();
    EXPECT_THAT(listener_.namespaces, IsEmpty());
    EXPECT_EQ(controller.state(), ControllerState::live);
}

TEST_F(NamespaceChange, is_seen_though_the_list_of_changes_is_refused) {
    Data data;
    data.controller.cmic = 0; // or the ANA log would be refused as well
    FakeController fake(data);
    start(fake);
    fake.set([](Data& d) {
        d.name_space.nsze = 4096;
        d.refused[admin_opcode::kGetLogPage] = Status(StatusCode::invalid_log_page, true);
    });
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return !listener_.namespaces.empty(); }));
    EXPECT_THAT(listener_.losses, IsEmpty());
}

struct Disappearance {
    const char* name;
    void (*change)(Data&);
    const char* sentence;
};

class NamespaceGone : public LiveController, public testing::WithParamInterface<Disappearance> {};

TEST_P(NamespaceGone, is_told_and_ends_the_association) {
    Data data;
    data.name_space.eui64 = {1, 2, 3, 4, 5, 6, 7, 8};
    FakeController fake(data);
    start(fake);
    fake.set(GetParam().change);
    fake.raise(AsyncEvent::kNamespaceAttributeChanged);
    ASSERT_TRUE(run_until([&] { return !listener_.losses.empty(); }));
    EXPECT_THAT(listener_.namespaces, ElementsAre(GetParam().sentence));
    EXPECT_THAT(listener_.losses.front().text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, NamespaceGone,
    testing::Values(Disappearance{"removed", [](Data& d) { d.nsids = {2}; }, "namespace 1 was removed"},
                    Disappearance{"exchanged", [](Data& d) { d.name_space.eui64 = {8, 7, 6, 5, 4, 3, 2, 1}; },
                                  "namespace 1 is another device now (eui64 0807060504030201, before eui64 "
                                  "0102030405060708)"},
                    Disappearance{"formatted", [](Data& d) { d.name_space.lbaf[0].lbads = 12; },
                                  "namespace 1 was formatted: it has blocks of 4096 bytes, before of 512"}),
    [](const auto& row) { return row.param.name; });

} // namespace
} // namespace mpath::nvme::test
