// SPDX-License-Identifier: GPL-2.0-only
// What the embedded target can be told to do wrong, and what the keeper makes of it.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/job/keeper_fixture.h"

namespace mpath::job::test {
namespace {

class KeeperFaults : public KeeperTest {
protected:
    KeeperFaults() {
        options_.nvme.keep_alive_ms = 1000;
        options_.nvme.connect_timeout = 500 * kMillisecond;
    }

    void connect_to_target() {
        auto connections = connect({target_.uri()});
        ASSERT_TRUE(connections[0]) << connections[0].error().text;
    }
    /// An event with this kind and this in its text has come, or comes.
    [[nodiscard]] bool hears(record::EventKind kind, std::string_view text) const {
        return wait_until([&] {
            const auto events = events_->events();
            return std::any_of(events.begin(), events.end(), [&](const record::Event& event) {
                return event.kind == kind && event.text.find(text) != std::string::npos;
            });
        });
    }
    [[nodiscard]] std::string told() const {
        std::string text;
        for (const record::Event& event : events_->events()) {
            text += fmt::format("{}: {}\n", to_string(event.kind), event.text);
        }
        return text;
    }
    [[nodiscard]] bool comes_back() {
        return wait_until([this] { return waits(0); });
    }

    OneTarget target_;
};

// ---- what ends an association, and lets it come back

struct EndingFault {
    const char* name;
    const char* script;
    const char* cause;
};

class LosingFaults : public KeeperFaults, public testing::WithParamInterface<EndingFault> {};

TEST_P(LosingFaults, are_told_with_their_cause_and_survived) {
    connect_to_target();
    target_.tell(GetParam().script);
    EXPECT_TRUE(hears(record::EventKind::lost, GetParam().cause)) << told();
    target_.tell("on all heal");
    EXPECT_TRUE(comes_back()) << told();
}

INSTANTIATE_TEST_SUITE_P(
    Rows, LosingFaults,
    testing::Values(EndingFault{"reset", "on all drop", "the connection broke"},
                    EndingFault{"orderly_close", "on all close", "the peer closed the connection"},
                    EndingFault{"silence", "on all mute", "no answer to Keep Alive"},
                    EndingFault{"mute_keep_alive", "on all command keep-alive mute",
                                "no answer to Keep Alive"},
                    EndingFault{"stalled_reading", "on all stall-reading", ""},
                    EndingFault{"stalled_writing", "on all stall-writing", "no answer to Keep Alive"},
                    EndingFault{"fatal_status", "on all fatal", "the controller reports a fatal error"},
                    EndingFault{"controller_reset", "on all reset", "the controller"},
                    EndingFault{"transition_without_end", "on all ana change",
                                "is in the state change for 2 s, twice ANATT"},
                    EndingFault{"namespace_removed", "on all remove", "namespace 1 was removed"}),
    [](const auto& row) { return row.param.name; });

// ---- what a lost path meets on its way back

struct Obstacle {
    const char* name;
    const char* script; ///< before the connections are dropped
    record::EventKind kind;
    const char* sentence;
    bool passes; ///< when it heals
};

class Obstacles : public KeeperFaults, public testing::WithParamInterface<Obstacle> {};

TEST_P(Obstacles, are_told_and_end_the_attempts_only_when_they_are_final) {
    {
        Keeper first(clock_, {target_.uri()}, options_, *events_, kSecond, [] {});
        const auto connections = first.connect();
        ASSERT_TRUE(connections && (*connections)[0]);
        const PathFacts& facts = *(*(*connections)[0])->facts();
        device_ = JobDevice{facts.identity, facts.limits.block_size, facts.limits.size};
    }
    connect_to_target();
    target_.tell(GetParam().script);
    target_.tell("on all drop");
    EXPECT_TRUE(hears(GetParam().kind, GetParam().sentence)) << told();
    target_.tell("on all heal");
    if (GetParam().passes) {
        EXPECT_TRUE(comes_back()) << told();
    } else {
        EXPECT_TRUE(wait_until([this] { return keeper_->news().life(0) == PathLife::gone; })) << told();
    }
}

using record::EventKind;
INSTANTIATE_TEST_SUITE_P(
    Rows, Obstacles,
    testing::Values(
        Obstacle{"refused_connection", "on all refuse-connects", EventKind::refused, "Connection refused",
                 true},
        Obstacle{"busy", "on all reject-connects", EventKind::refused, "out of controllers", true},
        Obstacle{"busy_for_good", "on all reject-connects connect-busy dnr", EventKind::refused,
                 "out of controllers", true},
        Obstacle{"busy_queues", "on all queue 1 reject-connects", EventKind::refused, "out of queues", true},
        Obstacle{"host_refused", "on all reject-connects connect-invalid-host", EventKind::refused,
                 "let host", true},
        Obstacle{"host_refused_for_good", "on all reject-connects connect-invalid-host dnr",
                 EventKind::given_up, "final", false},
        Obstacle{"silence", "on all mute", EventKind::refused, "no answer", true},
        Obstacle{"another_device", "on all identity another", EventKind::refused,
                 "it leads to another device now", true},
        Obstacle{"no_device", "on all remove", EventKind::refused, "no namespace 1", true},
        Obstacle{"garbage_log", "on all lie ana-state-7", EventKind::refused, "the ANA log is refused",
                 true}),
    [](const auto& row) { return row.param.name; });

// ---- what a live path bears

TEST_F(KeeperFaults, ana_states_follow_the_target) {
    connect_to_target();
    for (const auto& [word, state] : {std::pair{"non-optimized", PathState::non_optimized},
                                      {"inaccessible", PathState::inaccessible},
                                      {"persistent-loss", PathState::persistent_loss},
                                      {"change", PathState::change},
                                      {"optimized", PathState::optimized}}) {
        target_.tell(fmt::format("on all ana {}", word));
        EXPECT_TRUE(wait_until([this, state = state] { return keeper_->news().state(0) == state; })) << word;
    }
    EXPECT_EQ(keeper_->news().life(0), PathLife::live);
}

TEST_F(KeeperFaults, many_changes_end_with_the_last) {
    connect_to_target();
    for (int i = 0; i < 50; ++i) {
        target_.tell("on all ana inaccessible");
        target_.tell("on all ana optimized");
    }
    target_.tell("on all ana non-optimized");
    EXPECT_TRUE(wait_until([this] { return keeper_->news().state(0) == PathState::non_optimized; }))
        << told();
}

TEST_F(KeeperFaults, a_change_without_an_event_is_found_on_request) {
    connect_to_target();
    target_.tell("on all ana inaccessible no-event");
    keeper_->refresh_state(0);
    EXPECT_TRUE(wait_until([this] { return keeper_->news().state(0) == PathState::inaccessible; }));
}

TEST_F(KeeperFaults, a_log_that_is_refused_leaves_the_state_and_answers_whoever_asked) {
    connect_to_target();
    target_.tell("on all command ana-log fail internal-error dnr");
    const std::uint32_t reports = keeper_->news().state_reports(0);
    keeper_->refresh_state(0);
    EXPECT_TRUE(wait_until([this, reports] { return keeper_->news().state_reports(0) > reports; }));
    EXPECT_EQ(keeper_->news().state(0), PathState::optimized);
    EXPECT_TRUE(hears(record::EventKind::state, "the path stays optimized")) << told();
    EXPECT_EQ(keeper_->news().life(0), PathLife::live);
}

TEST_F(KeeperFaults, a_resize_is_told) {
    connect_to_target();
    target_.tell("on all resize 2M");
    EXPECT_TRUE(hears(record::EventKind::namespace_changed, "resized from 1048576 to 2097152 bytes"))
        << told();
    target_.tell("on all resize 512k");
    EXPECT_TRUE(hears(record::EventKind::namespace_changed, "resized from 2097152 to 524288 bytes"))
        << told();
    EXPECT_EQ(keeper_->news().life(0), PathLife::live);
}

} // namespace
} // namespace mpath::job::test
