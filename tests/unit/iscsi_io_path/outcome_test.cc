// SPDX-License-Identifier: GPL-2.0-only
// What becomes of an I/O: from a command's end to an error class, and the end of a path.
#include <functional>

#include "tests/unit/iscsi_io_path/io_path_fixture.h"

namespace mpath::iscsi::test {
namespace {

/// The segment of a response with sense data in fixed format.
Bytes sense(std::uint8_t key, std::uint8_t asc, std::uint8_t ascq) {
    FixedSense fixed;
    fixed.key = key;
    fixed.asc = asc;
    fixed.ascq = ascq;
    return bytes_of(Be16(std::uint16_t{sizeof fixed})) + bytes_of(fixed);
}

struct StatusRow {
    const char* name;
    std::uint8_t status;
    Bytes segment;
    ErrorClass error;
    std::uint32_t word; ///< Request::protocol_status
};

const std::vector<StatusRow> kStatusRows = {
    {"Good", 0, {}, ErrorClass::none, 0},
    {"Busy", 0x08, {}, ErrorClass::busy, 0x08000000},
    {"TaskSetFull", 0x28, {}, ErrorClass::busy, 0x28000000},
    {"TaskAborted", 0x40, {}, ErrorClass::aborted, 0x40000000},
    {"Standby", 0x02, sense(2, 0x04, 0x0b), ErrorClass::ana_inaccessible, 0x0202040b},
    {"Transition", 0x02, sense(2, 0x04, 0x0a), ErrorClass::ana_transition, 0x0202040a},
    {"StateChanged", 0x02, sense(6, 0x2a, 0x06), ErrorClass::state_changed, 0x02062a06},
    {"PowerOn", 0x02, sense(6, 0x29, 0x00), ErrorClass::unit_attention, 0x02062900},
    {"NoSuchUnit", 0x02, sense(5, 0x25, 0x00), ErrorClass::path_error, 0x02052500},
    {"MediumError", 0x02, sense(3, 0x11, 0x00), ErrorClass::io_error, 0x02031100},
    {"ProtocolCrc", 0x02, sense(0xb, 0x47, 0x05), ErrorClass::transport_error, 0x020b4705},
    {"NoSense", 0x02, {}, ErrorClass::io_error, 0x02000000},
};

class IoPathStatus : public IoPathTest, public testing::WithParamInterface<StatusRow> {};

TEST_P(IoPathStatus, GivesItsErrorClassAndIsKept) {
    open();
    submit(0, Operation::flush, 0, 0);
    path_->flush();
    answer(receive_command(), GetParam().status, GetParam().segment);
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, GetParam().error) << to_string(requests_[0].error_class);
    EXPECT_EQ(requests_[0].protocol_status, GetParam().word);
    EXPECT_FALSE(requests_[0].maybe_executed);
    EXPECT_TRUE(path_->live()) << "whatever the unit says, the connection goes on";
}

INSTANTIATE_TEST_SUITE_P(Rows, IoPathStatus, testing::ValuesIn(kStatusRows),
                         [](const auto& row) { return row.param.name; });

TEST_F(IoPathStatus, IsNamedInSentences) {
    open();
    EXPECT_NE(path_->status_text(0x0202040b).find("2/04/0B"), std::string::npos)
        << path_->status_text(0x0202040b);
}

// ---- success that is none

class IoPathData : public IoPathTest {
protected:
    std::uint32_t start_read(std::vector<std::byte>& buffer) {
        submit(0, Operation::read, 0, static_cast<std::uint32_t>(buffer.size()), buffer.data());
        path_->flush();
        return receive_command().task_tag;
    }
    ErrorClass outcome() {
        EXPECT_TRUE(run_until_completed(1));
        return requests_[0].error_class;
    }
};

TEST_F(IoPathData, ThatIsMissingFailsTheRequestAsATransportError) {
    open();
    Bytes buffer(512);
    const auto tag = start_read(buffer);
    targets_[0]->send(targets_[0]->response(tag));
    EXPECT_EQ(outcome(), ErrorClass::transport_error);
    EXPECT_TRUE(path_->live());
}

TEST_F(IoPathData, ThatIsMissingFailsTheRequestThoughTheErrorWasRecovered) {
    for (const bool missing : {false, true}) {
        completed_.clear();
        open();
        Bytes buffer(512);
        const auto tag = start_read(buffer);
        targets_[0]->send(targets_[0]->data_in(tag, 0, pattern(missing ? 500 : 512), kFinal));
        targets_[0]->send(targets_[0]->response(tag, scsi_status::kCheckCondition, sense(1, 0x18, 0)));
        EXPECT_EQ(outcome(), missing ? ErrorClass::transport_error : ErrorClass::none);
        TearDown();
    }
}

TEST_F(IoPathData, ThatTheTargetNeverAskedForFailsTheWrite) {
    open({.parameters = {.immediate_data = false}});
    Bytes buffer(512);
    submit(0, Operation::write, 0, 512, buffer.data());
    path_->flush();
    answer(receive_command());
    EXPECT_EQ(outcome(), ErrorClass::transport_error);
}

TEST_F(IoPathData, ThatOnlySaysWhatToTrimMayBeCountedAsNotMoved) {
    open({.features = {.unmap = true}});
    submit(0, Operation::trim, 0, 4096);
    path_->flush();
    ScsiResponse pdu;
    pdu.task_tag = receive_command().task_tag;
    pdu.flags |= residual_flag::kUnderflow;
    pdu.residual = 24;
    targets_[0]->send(targets_[0]->wire(pdu, {}, true));
    EXPECT_EQ(outcome(), ErrorClass::none);
}

TEST_F(IoPathData, ThatCameDamagedFailsItsRequestAndIsCountedWhileThePathLives) {
    open({.parameters = {.data_digest = true}});
    Bytes buffer(512);
    Bytes pdu = targets_[0]->answer_read(start_read(buffer), pattern(512));
    pdu.back() ^= std::byte{1};
    targets_[0]->send(pdu);
    EXPECT_EQ(outcome(), ErrorClass::transport_error);
    EXPECT_TRUE(path_->live());
    EXPECT_EQ(path_->traffic().data_digest_errors, 1U);
    EXPECT_EQ(path_->traffic().protocol_violations, 0U);
}

TEST_F(IoPathData, ThatCameDamagedKeepsTheTargetsOwnError) {
    open({.parameters = {.data_digest = true}});
    Bytes buffer(512);
    const auto tag = start_read(buffer);
    Bytes pdu = targets_[0]->data_in(tag, 0, pattern(512), kFinal);
    pdu.back() ^= std::byte{1};
    targets_[0]->send(pdu + targets_[0]->response(tag, scsi_status::kCheckCondition, sense(3, 0x11, 0)));
    EXPECT_EQ(outcome(), ErrorClass::io_error);
}

TEST_F(IoPathData, OfATargetThatFailedIsATransportError) {
    open();
    submit(0, Operation::flush, 0, 0);
    path_->flush();
    ScsiResponse pdu;
    pdu.response = 1;
    pdu.task_tag = receive_command().task_tag;
    targets_[0]->send(targets_[0]->wire(pdu, {}, true));
    EXPECT_EQ(outcome(), ErrorClass::transport_error);
}

// ---- the end of a path

struct Loss {
    const char* name;
    std::size_t sessions;
    std::function<void(IoPath&, std::vector<std::unique_ptr<ScriptedTarget>>&)> cause;
    bool told; ///< the listener hears of it
};

Bytes async_event_of(ScriptedTarget& target, std::uint8_t event) {
    AsyncMessage pdu;
    pdu.event = event;
    return target.wire(pdu, {}, true);
}

const std::vector<Loss> kLosses = {
    {"PeerCloses", 1, [](auto&, auto& targets) { targets[0]->end().close(); }, true},
    {"PeerResets", 1, [](auto&, auto& targets) { targets[0]->end().reset(); }, true},
    {"PeerBreaksTheProtocol", 1, [](auto&, auto& targets) { targets[0]->send(Bytes(kBhsSize)); }, true},
    {"OneOfThreeSessionsIsLost", 3, [](auto&, auto& targets) { targets[1]->end().close(); }, true},
    {"TheTargetDropsTheConnection", 3,
     [](auto&, auto& targets) {
         targets[2]->send(async_event_of(*targets[2], async_event::kDropConnection));
     },
     true},
    {"TheTargetDropsAll", 3,
     [](auto&, auto& targets) {
         for (const auto& target : targets) {
             target->send(async_event_of(*target, async_event::kDropAllConnections));
         }
     },
     true},
    {"TheTargetEndedTheTasks", 1,
     [](auto&, auto& targets) {
         targets[0]->send(async_event_of(*targets[0], async_event::kTasksTerminated));
     },
     true},
    {"ClosedInOrderWithThreeSessions", 3,
     [](auto& path, auto&) {
         path.close({0, {}});
     },
     false},
    {"ClosedForAReason", 3,
     [](auto& path, auto&) {
         path.close({ECANCELED, "enough"});
     },
     false},
};

class IoPathLoss : public IoPathTest, public testing::WithParamInterface<Loss> {
protected:
    /// Two commands fit each session. Whole and split requests, open, half issued and parked ones.
    void fill() {
        open({.sessions = GetParam().sessions, .queue_size = 2});
        buffer_.resize(std::size_t{10} * 8192);
        for (std::uint32_t i = 0; i < kRequests; ++i) {
            const bool split = i % 3 == 0;
            submit(i, i % 2 == 0 ? Operation::read : Operation::write, 0, split ? 10 * 8192 : 512,
                   buffer_.data());
        }
        path_->flush();
        settle();
        ASSERT_EQ(path_->outstanding(), kRequests);
    }
    void expect_everything_came_back_once() {
        ASSERT_TRUE(run_until([this] { return path_->closed(); }));
        collect();
        for (std::uint32_t i = 0; i < kRequests; ++i) {
            EXPECT_EQ(times_completed_[i], 1) << "request " << i;
            EXPECT_EQ(requests_[i].error_class, ErrorClass::path_down) << "request " << i;
            EXPECT_EQ(requests_[i].commands_open, 0U);
        }
        EXPECT_EQ(path_->outstanding(), 0U);
        EXPECT_FALSE(path_->live());
        EXPECT_EQ(losses_.size(), GetParam().told ? 1U : 0U);
    }

    static constexpr std::uint32_t kRequests = 12;
    Bytes buffer_;
};

TEST_P(IoPathLoss, BringsEveryRequestBackOnceAsPathDown) {
    fill();
    GetParam().cause(*path_, targets_);
    expect_everything_came_back_once();
}

TEST_P(IoPathLoss, LeavesNobodyWhoLooksAtTheBuffers) {
    fill();
    GetParam().cause(*path_, targets_);
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    Bytes().swap(buffer_);
    path_.reset();
    settle(); // under asan
}

INSTANTIATE_TEST_SUITE_P(Causes, IoPathLoss, testing::ValuesIn(kLosses),
                         [](const auto& row) { return row.param.name; });

class IoPathEnd : public IoPathTest {};

TEST_F(IoPathEnd, TellsWhichWritesMayHaveBeenExecuted) {
    open({.queue_size = 2, .parameters = {.max_send_data = 512, .first_burst = 512}});
    Bytes buffer(1024);
    submit(0, Operation::write, 0, 512, buffer.data());
    submit(1, Operation::write, 0, 1024, buffer.data()); // half of it is still to be asked for
    submit(2, Operation::write, 0, 512, buffer.data());  // parked
    path_->flush();
    receive_command();
    receive_command();
    targets_[0]->end().close();
    ASSERT_TRUE(run_until_completed(3));
    EXPECT_TRUE(requests_[0].maybe_executed);
    EXPECT_TRUE(requests_[1].maybe_executed) << "a unit may write what it has";
    EXPECT_FALSE(requests_[2].maybe_executed);
}

TEST_F(IoPathEnd, KnowsThatAWriteWithoutDataWasNotExecuted) {
    open({.parameters = {.immediate_data = false}});
    Bytes buffer(512);
    submit(0, Operation::write, 0, 512, buffer.data());
    path_->flush();
    receive_command();
    targets_[0]->end().close();
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_FALSE(requests_[0].maybe_executed);
}

TEST_F(IoPathEnd, WaitsForItsAnswersWhenTheTargetAsksToLogOut) {
    open({.sessions = 2});
    Bytes buffer(512);
    submit(0, Operation::read, 0, 512, buffer.data());
    submit(1, Operation::write, 0, 512, buffer.data());
    path_->flush();
    const ScsiCommand read = receive_command(0);
    const ScsiCommand write = receive_command(1);
    targets_[0]->send(async_event_of(*targets_[0], async_event::kLogoutRequest));
    settle();
    submit(2, Operation::flush, 0, 0);
    path_->flush();
    EXPECT_TRUE(nothing_arrives(0)) << "it takes no further command";
    EXPECT_TRUE(nothing_arrives(1)) << "nor do its other sessions";

    targets_[0]->send(targets_[0]->answer_read(read.task_tag, pattern(512)));
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_FALSE(path_->closed()) << "the other session's command is still open";
    answer(write, 0, {}, 1);
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    collect();
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
    EXPECT_EQ(requests_[1].error_class, ErrorClass::none);
    EXPECT_EQ(requests_[2].error_class, ErrorClass::path_down) << "to be sent elsewhere";
    EXPECT_FALSE(requests_[2].maybe_executed);
    ASSERT_EQ(losses_.size(), 1U);
    EXPECT_EQ(losses_[0].code, ESHUTDOWN);
    for (const std::size_t session : {0U, 1U}) {
        EXPECT_EQ(receive_pdu(session).opcode(), Opcode::logout);
    }
}

TEST_F(IoPathEnd, IsNotSeenInMessagesThatTheControlSessionAttendsTo) {
    open();
    for (const std::uint8_t event : {async_event::kScsi, async_event::kNegotiate, async_event::kVendor}) {
        targets_[0]->send(async_event_of(*targets_[0], event));
    }
    settle();
    EXPECT_TRUE(path_->live());
}

TEST_F(IoPathEnd, IsFollowedByANewConnectionThatKeepsTheLimitsItDoesNotKnow) {
    open();
    path_->close({ECONNRESET, "lost"});
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    attach({}, {}); // a standby path may not know its size
    EXPECT_TRUE(path_->live());
    submit(0, Operation::read, 0, 16384);
    path_->flush();
    EXPECT_EQ(block_of(receive_command()).blocks, 16U);
    EXPECT_EQ(block_of(receive_command()).blocks, 16U);
}

} // namespace
} // namespace mpath::iscsi::test
