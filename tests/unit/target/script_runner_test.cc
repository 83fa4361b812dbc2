// SPDX-License-Identifier: GPL-2.0-only
// When statements act, on a clock that stands still.
#include <gtest/gtest.h>

#include "stage.h"

namespace mpath::target {
namespace {

namespace io_opcode = nvme::io_opcode;
using nvme::AnaState;

constexpr Nanoseconds kStep = 100 * kMillisecond;

class TargetScriptRunner : public testing::Test {
protected:
    TargetScriptRunner() : host(stage) { stage.reaches(host); }

    void io(std::uint8_t opcode = io_opcode::kFlush) {
        host.io.capsule(blocks_command(opcode, 1, 0, 1));
        while (host.io.receive()) {
        }
    }
    /// What is wrong with listener a after each step of 100 ms.
    std::vector<std::string> watch(int steps) {
        std::vector<std::string> seen;
        for (int i = 0; i < steps; ++i) {
            stage.wait(kStep);
            seen.push_back(stage.listener.faults.describe());
        }
        return seen;
    }
    [[nodiscard]] bool mute() const { return stage.listener.faults.has(ActionKind::mute); }
    AnaState state() { return stage.listener.ana_state(1); }

    Stage stage;
    Association host;
};

using Seen = std::vector<std::string>;

TEST_F(TargetScriptRunner, ActsAtOnceWithoutATime) {
    stage.play("on a mute");
    EXPECT_TRUE(mute());
    EXPECT_EQ(stage.script->waiting(), 0U);
}

TEST_F(TargetScriptRunner, CountsTimeFromTheFirstIoCommand) {
    stage.play("at 200ms on a command connect mute");
    EXPECT_EQ(watch(5), Seen(5));
    EXPECT_EQ(stage.script->next_due(), Queue::kNever);
    io();
    EXPECT_EQ(stage.script->next_due(), stage.now + 200 * kMillisecond);
    EXPECT_EQ(watch(2), Seen({"", "mute"}));
}

TEST_F(TargetScriptRunner, ActsBeforeTheFirstCommandAtTimeZero) {
    stage.play("at 0 on a fail internal-error count 1");
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_EQ(status_of(host.io.completion()), nvme::StatusCode::internal_error);
}

TEST_F(TargetScriptRunner, EndsWhatIsForATime) {
    stage.play("for 200ms on a delay 5ms");
    EXPECT_TRUE(stage.listener.faults.has(ActionKind::delay));
    EXPECT_EQ(watch(2), Seen({"delay 5ms", ""}));
}

TEST_F(TargetScriptRunner, RepeatsUntilToldNotTo) {
    stage.play("every 300ms for 100ms on a command connect mute");
    io();
    EXPECT_EQ(watch(7), Seen({"", "", "mute", "", "", "mute", ""}));
    stage.play("forget");
    EXPECT_EQ(watch(3), Seen(3));
}

TEST_F(TargetScriptRunner, BeginsToRepeatAtATime) {
    stage.play("at 100ms every 300ms for 100ms on a command connect mute");
    io();
    EXPECT_EQ(watch(5), Seen({"mute", "", "", "mute", ""}));
}

TEST_F(TargetScriptRunner, RepeatsSoManyTimes) {
    stage.play("every 200ms times 2 for 100ms on a command connect mute");
    io();
    EXPECT_EQ(watch(6), Seen({"", "mute", "", "mute", "", ""}));
    EXPECT_EQ(stage.script->waiting(), 0U);
}

TEST_F(TargetScriptRunner, ActsInTheOrderOfTimeWhenItIsLate) {
    stage.play("at 300ms on a ana change\nat 100ms on a ana inaccessible\nat 200ms on a ana persistent-loss");
    io();
    stage.wait(kSecond);
    EXPECT_EQ(state(), AnaState::change);
    EXPECT_EQ(stage.listener.ana.change_count(), 4U);
}

TEST_F(TargetScriptRunner, ActsBehindSoManyCommands) {
    stage.play("after 2 writes on a ana inaccessible");
    for (const auto opcode : {io_opcode::kFlush, io_opcode::kWrite, io_opcode::kRead, io_opcode::kWrite}) {
        io(opcode);
        EXPECT_EQ(state(), AnaState::optimized);
    }
    io(io_opcode::kFlush);
    EXPECT_EQ(state(), AnaState::optimized);
    host.io.capsule(blocks_command(io_opcode::kWrite, 9, 0, 1));
    EXPECT_EQ(status_of(host.io.completion()), nvme::StatusCode::ana_inaccessible);
}

TEST_F(TargetScriptRunner, ActsEachTimeSoManyCommandsHaveCome) {
    stage.play("every 2 commands on a fail internal-error count 1");
    std::string seen;
    for (int i = 0; i < 8; ++i) {
        host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
        seen += host.io.completion().status == 0 ? '.' : 'x';
    }
    EXPECT_EQ(seen, "..x.x.x.");
}

TEST_F(TargetScriptRunner, TheCommandThatFindsItsConnectionDroppedIsNotCarriedOut) {
    stage.play("after 1 command on a drop");
    io();
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_TRUE(host.io.ended());
    EXPECT_TRUE(host.admin.ended());
    EXPECT_EQ(stage.listener.counters.flushes, 1U);
    EXPECT_EQ(stage.listener.counters.dropped, 2U);
}

TEST_F(TargetScriptRunner, PicksTimesListenersAndActionsAtRandomFromItsSeed) {
    const auto events = [this] {
        std::string seen;
        for (int i = 0; i < 40; ++i) {
            stage.wait(kStep);
            seen += stage.listener.faults.describe() + "/" + stage.other.faults.describe() + " ";
        }
        stage.play("forget\non all heal");
        return seen;
    };
    const char* const script =
        "seed 7\nevery 200ms..500ms for 100ms..200ms on any command connect mute or delay 5ms";
    stage.play(script);
    io();
    const std::string first = events();
    for (const char* part : {"mute/ ", "/mute ", "delay 5ms/ ", "/delay 5ms "}) {
        EXPECT_NE(first.find(part), std::string::npos) << part << " in " << first;
    }
    EXPECT_EQ(first.find("mute/mute"), std::string::npos) << "one at a time";
    stage.play(script);
    io();
    EXPECT_EQ(events(), first);
}

TEST_F(TargetScriptRunner, HealUndoesEverythingOnAListener) {
    stage.play(
        "on all command connect mute\non a ana inaccessible\nfor 1s on a ana change\non a down\non a heal");
    EXPECT_TRUE(stage.listener.faults.empty());
    EXPECT_EQ(state(), AnaState::optimized);
    EXPECT_EQ(stage.connects, std::vector<bool>({false, true}));
    EXPECT_FALSE(stage.other.faults.empty());
    stage.wait(kSecond);
    EXPECT_EQ(state(), AnaState::optimized);
}

TEST_F(TargetScriptRunner, AStateForATimeGivesWayToTheOneBefore) {
    stage.play("on a ana non-optimized\nfor 100ms on a ana inaccessible");
    EXPECT_EQ(state(), AnaState::inaccessible);
    stage.wait(kStep);
    EXPECT_EQ(state(), AnaState::non_optimized);
    EXPECT_EQ(stage.listener.ana.change_count(), 4U);
    EXPECT_EQ(stage.other.ana_state(1), AnaState::optimized);
}

} // namespace
} // namespace mpath::target
