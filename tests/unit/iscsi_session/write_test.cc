// SPDX-License-Identifier: GPL-2.0-only
// The data of writes: what goes with the command, what follows it unasked, what waits for an R2T.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

struct Unasked {
    const char* name;
    SessionParameters parameters;
    std::uint32_t length;
    std::uint32_t immediate;
    std::vector<std::uint32_t> further; ///< bytes of each Data-Out that nobody asked for
};

const std::vector<Unasked> kUnasked = {
    {"AllWithTheCommand", {}, 4096, 4096, {}},
    {"AllWithTheCommandWhereMoreMayFollow", {.initial_r2t = false}, 4096, 4096, {}},
    {"NothingToWrite", {.initial_r2t = false}, 0, 0, {}},
    {"AsMuchAsAPduTakes", {.max_send_data = 1024}, 4096, 1024, {}},
    {"AsMuchAsTheFirstBurst", {.first_burst = 512}, 4096, 512, {}},
    {"NotAMultipleOfFour",
     {.max_send_data = 1001, .first_burst = 4093, .initial_r2t = false},
     4096,
     1001,
     {1001, 1001, 1001, 89}},
    {"NoImmediateData", {.immediate_data = false}, 4096, 0, {}},
    {"Nothing", {.initial_r2t = true, .immediate_data = false}, 100, 0, {}},
    {"AllOfIt", {.max_send_data = 1024, .initial_r2t = false}, 4096, 1024, {1024, 1024, 1024}},
    {"AllOfItWithoutImmediateData",
     {.max_send_data = 1024, .initial_r2t = false, .immediate_data = false},
     2500,
     0,
     {1024, 1024, 452}},
    {"TheFirstBurst",
     {.max_send_data = 1024, .first_burst = 2560, .initial_r2t = false},
     65536,
     1024,
     {1024, 512}},
    {"FirstBurstIsImmediate",
     {.max_send_data = 1024, .first_burst = 1024, .initial_r2t = false},
     65536,
     1024,
     {}},
};

class SessionUnasked : public SessionTest, public testing::WithParamInterface<Unasked> {
protected:
    void expect_data(const SessionParameters& parameters) {
        const Unasked& row = GetParam();
        open({.parameters = parameters});
        Bytes buffer = pattern(row.length);
        submit_write(buffer);
        session_->flush();
        const Pdu pdu = receive(Opcode::scsi_command);
        const auto command = pdu.as<ScsiCommand>();
        EXPECT_EQ(command.flags,
                  command_flag::kSimple | command_flag::kWrite | (row.further.empty() ? kFinal : 0));
        EXPECT_EQ(command.expected_length, row.length);
        EXPECT_EQ(pdu.data, slice(buffer, 0, row.immediate));
        EXPECT_TRUE(pdu.digests_match && pdu.padding_is_zero);
        std::uint32_t sent = row.immediate;
        for (std::uint32_t i = 0; i < row.further.size(); ++i) {
            const Pdu out = receive(Opcode::data_out);
            const auto header = out.as<DataOut>();
            EXPECT_EQ(out.final(), i + 1 == row.further.size());
            EXPECT_EQ(header.task_tag, command.task_tag);
            EXPECT_EQ(header.target_tag, kNoTag);
            EXPECT_EQ(header.exp_stat_sn, kNumbers.exp_stat_sn);
            EXPECT_EQ(header.data_sn, i);
            EXPECT_EQ(header.offset, sent);
            EXPECT_EQ(out.data, slice(buffer, sent, row.further[i]));
            EXPECT_TRUE(out.digests_match && out.padding_is_zero);
            sent += row.further[i];
        }
        EXPECT_TRUE(nothing_arrives());
        if (sent < row.length) {
            target_->send(target_->r2t(command.task_tag, 3, sent, row.length - sent));
            while (sent < row.length && !HasFailure()) {
                const Pdu out = receive(Opcode::data_out);
                EXPECT_EQ(out.as<DataOut>().offset, sent);
                EXPECT_EQ(out.data, slice(buffer, sent, out.data.size()));
                sent += static_cast<std::uint32_t>(out.data.size());
            }
        }
        target_->send(target_->response(command.task_tag));
        ASSERT_TRUE(run_until_done(1));
        EXPECT_TRUE(succeeded(done_[0].end));
    }
};

TEST_P(SessionUnasked, DataIsWhatWasAgreedOn) {
    expect_data(GetParam().parameters);
}

TEST_P(SessionUnasked, DataIsTheSameWithDigests) {
    expect_data(with_digests(GetParam().parameters));
}

INSTANTIATE_TEST_SUITE_P(Rows, SessionUnasked, testing::ValuesIn(kUnasked),
                         [](const auto& row) { return row.param.name; });

class SessionWrite : public SessionTest {};

TEST_F(SessionWrite, DataOfAnR2tIsCutIntoPdusOfTheTargetsSize) {
    open({.parameters = {.max_send_data = 4096, .immediate_data = false}});
    Bytes buffer = pattern(128 * 1024);
    const auto tag = start_write(buffer);
    target_->send(target_->r2t(tag, 0xbeef, 0, 128 * 1024));
    Bytes received;
    for (std::uint32_t i = 0; i < 32; ++i) {
        const Pdu pdu = receive(Opcode::data_out);
        const auto data = pdu.as<DataOut>();
        ASSERT_EQ(pdu.final(), i == 31);
        ASSERT_EQ(data.lun, kLun) << "which goes with a target transfer tag";
        ASSERT_EQ(data.task_tag, tag);
        ASSERT_EQ(data.target_tag, 0xbeef);
        ASSERT_EQ(data.data_sn, i);
        ASSERT_EQ(data.offset, i * 4096);
        received = received + pdu.data;
    }
    EXPECT_TRUE(received == buffer);
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionWrite, FollowsSmallStepsOfR2tEachASequenceOfItsOwn) {
    open({.parameters = {.max_send_data = 500, .immediate_data = false}});
    Bytes buffer = pattern(8000);
    const auto tag = start_write(buffer);
    for (std::uint32_t step = 0; step < 8; ++step) {
        target_->send(target_->r2t(tag, step, step * 1000, 1000));
        for (std::uint32_t i = 0; i < 2; ++i) {
            const Pdu pdu = receive(Opcode::data_out);
            const auto data = pdu.as<DataOut>();
            EXPECT_EQ(data.target_tag, step);
            EXPECT_EQ(data.data_sn, i) << "from 0 in each sequence";
            EXPECT_EQ(data.offset, step * 1000 + i * 500);
            EXPECT_EQ(pdu.final(), i == 1);
            EXPECT_EQ(pdu.data, slice(buffer, step * 1000 + i * 500, 500));
        }
    }
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionWrite, HasNoDataUnaskedWhereTheBatchHasNoRoomForIt) {
    open({.parameters = {.max_send_data = 512, .first_burst = 262144, .initial_r2t = false}, .commands = 8});
    Bytes buffer = pattern(120 * 512);
    submit_write(buffer);
    submit_write(buffer); // the pieces of a batch don't suffice for both
    session_->flush();
    EXPECT_FALSE(receive(Opcode::scsi_command).final());
    for (int out = 0; out < 119; ++out) {
        EXPECT_EQ(receive(Opcode::data_out).final(), out == 118);
    }
    const Pdu second = receive(Opcode::scsi_command);
    EXPECT_TRUE(second.final());
    EXPECT_EQ(second.data.size(), 512U);
    target_->send(target_->r2t(second.tag(), 9, 512, 512));
    const Pdu out = receive(Opcode::data_out);
    EXPECT_EQ(out.as<DataOut>().offset, 512U);
    EXPECT_TRUE(out.final());
}

TEST_F(SessionWrite, NeverWritesBeyondTheSendBatch) { // under asan this is the proof
    for (const bool digests : {false, true}) {
        SessionParameters parameters{.max_send_data = 512, .initial_r2t = false};
        parameters.header_digest = parameters.data_digest = digests;
        closed_.reset();
        session_.reset();
        open({.parameters = parameters, .commands = 4095});
        Bytes buffer = pattern(511);
        std::size_t submitted = 0;
        while (!session_->full()) {
            submit_write(buffer);
            ++submitted;
        }
        EXPECT_LT(submitted, 4095U) << "the batch was full before the slots";
        session_->flush();
        for (std::size_t i = 0; i < submitted; ++i) {
            const Pdu pdu = receive();
            ASSERT_EQ(pdu.data, buffer);
            ASSERT_TRUE(pdu.digests_match);
        }
        session_->close({0, {}}, net::Stream::Ending::orderly);
        ASSERT_TRUE(run_until_closed());
    }
}

TEST_F(SessionWrite, SuccessBeforeAllDataWasAskedForHasNotMovedAll) {
    open({.parameters = {.immediate_data = false}});
    Bytes buffer = pattern(4096);
    const auto tag = start_write(buffer);
    target_->send(target_->r2t(tag, 1, 0, 512));
    EXPECT_EQ(receive(Opcode::data_out).data.size(), 512U);
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kGood);
    EXPECT_EQ(done_[0].end.asked, 4096U);
    EXPECT_EQ(done_[0].end.moved, 512U);
}

TEST_F(SessionWrite, TakesTheResidualFromWhatWasMoved) {
    open();
    Bytes buffer = pattern(4096);
    ScsiResponse pdu;
    pdu.task_tag = start_write(buffer);
    pdu.flags = kFinal | residual_flag::kUnderflow;
    pdu.residual = 1024;
    target_->send(target_->wire(pdu, {}, true));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.moved, 3072U);
}

TEST_F(SessionWrite, LargerThanABatchGoesOutInSeveral) {
    constexpr std::uint32_t kLength = 4 * 1024 * 1024;
    open({.parameters = {.max_send_data = 4096, .max_burst = kLength, .immediate_data = false}});
    Bytes buffer = pattern(kLength);
    const auto tag = start_write(buffer);
    const int before = rooms_;
    target_->send(target_->r2t(tag, 1, 0, kLength));
    Bytes received;
    while (received.size() < kLength && !HasFailure()) {
        const Pdu pdu = receive(Opcode::data_out);
        EXPECT_EQ(pdu.as<DataOut>().offset, received.size());
        received = std::move(received) + pdu.data;
    }
    EXPECT_TRUE(received == buffer);
    EXPECT_GE(rooms_ - before, 3);
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

} // namespace
} // namespace mpath::iscsi::test
