// SPDX-License-Identifier: GPL-2.0-only
// What is neither a command nor its data: pings of both sides, task management, logout, what comes unasked.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

class SessionPing : public SessionTest {};

TEST_F(SessionPing, OfOursIsAnswered) {
    open();
    ASSERT_TRUE(session_->ping());
    session_->flush();
    const auto ping = receive(Opcode::nop_out).as<NopOut>();
    EXPECT_EQ(ping.opcode, kImmediate);
    EXPECT_EQ(ping.flags, kFinal);
    EXPECT_NE(ping.task_tag, kNoTag) << "an answer is wanted";
    EXPECT_EQ(ping.target_tag, kNoTag);
    NopIn answer;
    answer.task_tag = ping.task_tag;
    target_->send(target_->wire(answer, {}, true));
    ASSERT_TRUE(run_until([this] { return pongs_ == 1; }));
}

TEST_F(SessionPing, OfOursMayBeAnsweredWithData) {
    open();
    ASSERT_TRUE(session_->ping());
    session_->flush();
    NopIn answer;
    answer.task_tag = receive(Opcode::nop_out).tag();
    target_->send(target_->wire(answer, pattern(13), true));
    ASSERT_TRUE(run_until([this] { return pongs_ == 1; }));
    target_->send(target_->response(start_flush()));
    ASSERT_TRUE(run_until_done(1));
}

TEST_F(SessionPing, OfTheTargetIsAnsweredAtOnce) {
    open();
    NopIn ask;
    ask.lun = kLun;
    ask.target_tag = 0xcafe;
    target_->send(target_->wire(ask));
    const Pdu pdu = receive(Opcode::nop_out);
    const auto answer = pdu.as<NopOut>();
    EXPECT_TRUE(pdu.immediate());
    EXPECT_EQ(answer.task_tag, kNoTag) << "which is no question again";
    EXPECT_EQ(answer.target_tag, 0xcafeU);
    EXPECT_EQ(answer.lun, kLun);
    EXPECT_EQ(answer.cmd_sn, kNumbers.cmd_sn);
    EXPECT_EQ(answer.exp_stat_sn, kNumbers.exp_stat_sn) << "a question takes no StatSN";
    EXPECT_EQ(pongs_, 0);
}

TEST_F(SessionPing, OfTheTargetWaitsForRoomInTheBatch) {
    open({.parameters = {.max_send_data = 512, .max_burst = 4 * 1024 * 1024, .immediate_data = false},
          .commands = 4096,
          .buffer = 16 * 1024});
    Bytes buffer = pattern(4 * 1024 * 1024);
    const auto tag = start_write(buffer);
    target_->end().set_reading(false);
    target_->send(target_->r2t(tag, 1, 0, 4 * 1024 * 1024));
    settle();
    while (!session_->full()) { // so that the open batch is full as well
        submit(Transfer::none, nullptr, 0);
    }
    NopIn ask;
    ask.target_tag = 0xcafe;
    target_->send(target_->wire(ask));
    settle();
    target_->end().set_reading(true);
    bool answered = false;
    for (int i = 0; i < 20'000 && !answered && !HasFailure(); ++i) {
        answered = receive().opcode() == Opcode::nop_out;
    }
    EXPECT_TRUE(answered);
    session_->close({0, {}}, net::Stream::Ending::abort); // before the buffer goes
    ASSERT_TRUE(run_until_closed());
}

class SessionTask : public SessionTest {
protected:
    Bytes managed(std::uint32_t tag, std::uint8_t response = task_response::kComplete) {
        TaskManagementResponse pdu;
        pdu.task_tag = tag;
        pdu.response = response;
        return target_->wire(pdu, {}, true);
    }
    /// Asks for the end of the command of that owner.
    std::uint32_t abort(const void* owner) {
        std::uint32_t tag = 0;
        EXPECT_TRUE(session_->abort_task(owner, kLun, tag));
        session_->flush();
        return tag;
    }
};

TEST_F(SessionTask, AbortNamesTheCommand) {
    open();
    Bytes buffer(4096);
    start_flush();
    const auto read = start_read(buffer, &buffer);
    const auto tag = abort(&buffer);
    const auto pdu = receive(Opcode::task_management).as<TaskManagement>();
    EXPECT_EQ(pdu.opcode, 0x02 | kImmediate);
    EXPECT_EQ(pdu.function, kFinal | task_function::kAbortTask);
    EXPECT_EQ(pdu.lun, kLun);
    EXPECT_EQ(pdu.task_tag, tag);
    EXPECT_EQ(pdu.referenced_task_tag, read);
    EXPECT_EQ(pdu.ref_cmd_sn, kNumbers.cmd_sn + 1);
    EXPECT_EQ(pdu.cmd_sn, kNumbers.cmd_sn + 2);
}

struct Verdict {
    const char* name;
    std::uint8_t response;
    bool ends;
};

class SessionAbort : public SessionTask, public testing::WithParamInterface<Verdict> {};

TEST_P(SessionAbort, EndsTheCommandIfTheTargetHasItNoMore) {
    open();
    Bytes buffer(4096);
    Bytes other(4096);
    start_read(other, &other);
    const auto read = start_read(buffer, &buffer);
    const auto tag = abort(&buffer);
    target_->send(managed(tag, GetParam().response));
    ASSERT_TRUE(run_until([this] { return !managed_.empty(); }));
    EXPECT_EQ(managed_[0], std::pair(tag, GetParam().response));
    if (GetParam().ends) {
        ASSERT_EQ(done_.size(), 1U);
        EXPECT_EQ(done_[0].end.owner, &buffer);
        EXPECT_EQ(done_[0].end.status, scsi_status::kTaskAborted);
        EXPECT_FALSE(done_[0].end.lost);
    } else {
        EXPECT_TRUE(done_.empty());
        target_->send(target_->answer_read(read, pattern(4096)));
        ASSERT_TRUE(run_until_done(1));
        EXPECT_TRUE(succeeded(done_[0].end));
    }
}

INSTANTIATE_TEST_SUITE_P(Responses, SessionAbort,
                         testing::Values(Verdict{"Complete", task_response::kComplete, true},
                                         Verdict{"NoTask", task_response::kNoTask, true},
                                         Verdict{"NoLun", task_response::kNoLun, false},
                                         Verdict{"Unsupported", task_response::kUnsupported, false},
                                         Verdict{"Rejected", task_response::kRejected, false}),
                         [](const auto& row) { return row.param.name; });

TEST_F(SessionTask, AnswerThatCameBeforeTheAbortStands) {
    open();
    Bytes buffer(512);
    const auto read = start_read(buffer, &buffer);
    const auto tag = abort(&buffer);
    target_->send({target_->answer_read(read, pattern(512)), managed(tag, task_response::kNoTask)});
    ASSERT_TRUE(run_until([this] { return !managed_.empty(); }));
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionTask, AbortOfWhatIsNotThereIsNotSent) {
    open();
    std::uint32_t tag = 0;
    EXPECT_FALSE(session_->abort_task(&tag, kLun, tag));
    session_->flush();
    EXPECT_TRUE(nothing_arrives());
}

TEST_F(SessionTask, AbortedWriteSendsNoFurtherData) {
    open({.parameters = {.max_send_data = 4096, .max_burst = 4 * 1024 * 1024, .immediate_data = false},
          .buffer = 16 * 1024});
    Bytes buffer = pattern(4 * 1024 * 1024);
    const auto write = start_write(buffer, &buffer);
    target_->end().set_reading(false);
    target_->send(target_->r2t(write, 1, 0, 4 * 1024 * 1024));
    settle();
    const auto tag = abort(&buffer);
    target_->send(managed(tag));
    settle();
    EXPECT_TRUE(done_.empty()) << "the network still refers to the buffer";
    target_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kTaskAborted);
    settle();
    std::size_t sent = 0;
    while (const auto pdu = target_->next()) {
        sent += pdu->data.size();
    }
    EXPECT_LT(sent, buffer.size());
}

TEST_F(SessionTask, ResetEndsTheCommandsThatTheUnitHadBeforeIt) {
    open();
    start_flush(&managed_);
    const Lun other{0, 6};
    session_->submit({}, other, Transfer::none, nullptr, 0, nullptr);
    std::uint32_t tag = 0;
    ASSERT_TRUE(session_->reset_unit(kLun, tag));
    submit(Transfer::none, nullptr, 0);
    session_->flush();
    receive(Opcode::scsi_command);
    const auto pdu = receive(Opcode::task_management).as<TaskManagement>();
    EXPECT_EQ(pdu.function, kFinal | task_function::kLogicalUnitReset);
    EXPECT_EQ(pdu.lun, kLun);
    EXPECT_EQ(pdu.task_tag, tag);
    EXPECT_EQ(pdu.referenced_task_tag, kNoTag);
    target_->send(managed(tag));
    ASSERT_TRUE(run_until([this] { return !managed_.empty(); }));
    ASSERT_EQ(done_.size(), 1U) << "neither the other unit's nor the one behind it";
    EXPECT_EQ(done_[0].end.owner, &managed_);
    EXPECT_EQ(done_[0].end.status, scsi_status::kTaskAborted);
    EXPECT_EQ(session_->outstanding(), 2U);
}

TEST_F(SessionTask, FunctionsAreFewAtATime) {
    open();
    std::vector<std::uint32_t> tags(4);
    for (std::uint32_t& tag : tags) {
        ASSERT_TRUE(session_->reset_unit(kLun, tag));
    }
    std::uint32_t another = 0;
    EXPECT_FALSE(session_->reset_unit(kLun, another));
    session_->flush();
    target_->send(managed(tags[2]));
    ASSERT_TRUE(run_until([this] { return !managed_.empty(); }));
    EXPECT_TRUE(session_->reset_unit(kLun, another));
    for (const std::uint32_t tag : tags) {
        EXPECT_NE(another, tag);
    }
}

class SessionLogout : public SessionTest {};

TEST_F(SessionLogout, IsAskedForAndAnswered) {
    open();
    ASSERT_TRUE(session_->log_out());
    session_->flush();
    const auto pdu = receive(Opcode::logout).as<LogoutRequest>();
    EXPECT_EQ(pdu.opcode, 0x06 | kImmediate);
    EXPECT_EQ(pdu.reason, kFinal | logout_reason::kCloseSession);
    EXPECT_EQ(pdu.cmd_sn, kNumbers.cmd_sn);
    LogoutResponse answer;
    answer.task_tag = pdu.task_tag;
    target_->send(target_->wire(answer, {}, true));
    ASSERT_TRUE(run_until([this] { return !logged_out_.empty(); }));
    EXPECT_EQ(logged_out_[0], 0);
}

class SessionMessage : public SessionTest {
protected:
    void tell(const AsyncMessage& pdu, const Bytes& segment = {}) {
        target_->send(target_->wire(pdu, segment, true));
        ASSERT_TRUE(run_until([this] { return !asyncs_.empty(); }));
    }
};

TEST_F(SessionMessage, MessageIsPassedOn) {
    open();
    AsyncMessage pdu;
    pdu.event = async_event::kDropConnection;
    pdu.parameter1 = 1;
    pdu.parameter2 = 2;
    pdu.parameter3 = 3;
    tell(pdu);
    EXPECT_EQ(asyncs_[0].event.event, async_event::kDropConnection);
    EXPECT_EQ(asyncs_[0].event.parameter1, 1);
    EXPECT_EQ(asyncs_[0].event.parameter2, 2);
    EXPECT_EQ(asyncs_[0].event.parameter3, 3);
    EXPECT_TRUE(asyncs_[0].sense.empty());
}

TEST_F(SessionMessage, ScsiEventHasItsSense) {
    open();
    const Bytes sense = sense_segment(sense_key::kUnitAttention, 0x2a, 0x06);
    tell({}, sense);
    EXPECT_EQ(asyncs_[0].event.event, async_event::kScsi);
    EXPECT_EQ(asyncs_[0].sense, slice(sense, 2, sense.size() - 2));
}

struct Refusal {
    const char* name;
    std::uint8_t reason;
    const char* text;
};

class SessionReject : public SessionTest, public testing::WithParamInterface<Refusal> {};

TEST_P(SessionReject, EndsTheSessionAndSaysWhy) {
    open();
    submit(Transfer::none, nullptr, 0);
    session_->flush();
    Reject pdu;
    pdu.reason = GetParam().reason;
    target_->send(target_->wire(pdu, receive().header, true));
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->text, std::string("the target rejected a PDU (opcode 01h): ") + GetParam().text);
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].end.lost);
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, SessionReject,
    testing::Values(
        Refusal{"Protocol", reject_reason::kProtocolError, "protocol error (reason 04h)"},
        Refusal{"NotSupported", reject_reason::kCommandNotSupported, "command not supported (reason 05h)"},
        Refusal{"InvalidField", reject_reason::kInvalidPduField, "invalid PDU field (reason 09h)"},
        Refusal{"Resources", reject_reason::kOutOfResources, "out of resources (reason 0ah)"},
        Refusal{"ImmediateDataDamaged", reject_reason::kDataDigestError, "wrong data digest (reason 02h)"},
        Refusal{"Unheard", 0x77, "unknown reason (reason 77h)"}),
    [](const auto& row) { return row.param.name; });

TEST_F(SessionReject, OfDamagedDataLeavesTheRestToTheCommandsStatus) {
    open({.parameters = {.immediate_data = false}});
    Bytes buffer(512);
    const auto tag = start_write(buffer);
    target_->send(target_->r2t(tag, 1, 0, 512));
    Reject pdu;
    pdu.reason = reject_reason::kDataDigestError;
    const Bytes rejected = receive(Opcode::data_out).header;
    target_->send({target_->wire(pdu, rejected, true),
                   target_->response(tag, scsi_status::kCheckCondition, sense_segment(0xb, 0x47, 0x05))});
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kCheckCondition);
    EXPECT_FALSE(closed_);
}

TEST_F(SessionReject, WithoutTheHeaderOfWhatItIsAboutIsOneToo) {
    open();
    Reject pdu;
    pdu.reason = reject_reason::kDataDigestError;
    target_->send(target_->wire(pdu, pattern(47), true));
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("the target rejected a PDU"), std::string::npos) << closed_->text;
}

} // namespace
} // namespace mpath::iscsi::test
