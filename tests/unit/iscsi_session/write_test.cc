// SPDX-License-Identifier: GPL-2.0-only
// Data that goes to a target unasked: with its command, and in PDUs behind it.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

struct Piece {
    std::uint32_t offset;
    std::uint32_t length;
};

struct Unasked {
    const char* name;
    SessionParameters parameters;
    std::uint32_t length;
    std::uint32_t immediate;
    std::vector<Piece> pieces; ///< of Data-Out behind the command
};

const std::vector<Unasked> kUnasked = {
    {"Immediate", {}, 4096, 4096, {}},
    {"ImmediateOfOnePdu", {.max_send_data = 4096}, 65536, 4096, {}},
    {"ImmediateOfFirstBurst", {.max_send_data = 65536, .first_burst = 512}, 65536, 512, {}},
    {"Nothing", {.immediate_data = false}, 4096, 0, {}},
    {"OddLength", {}, 4097, 4097, {}},
    {"BehindImmediate",
     {.max_send_data = 4096, .first_burst = 12288, .initial_r2t = false},
     65536,
     4096,
     {{4096, 4096}, {8192, 4096}}},
    {"BehindTheCommand",
     {.max_send_data = 4096, .first_burst = 8192, .initial_r2t = false, .immediate_data = false},
     65536,
     0,
     {{0, 4096}, {4096, 4096}}},
    {"LessThanFirstBurst",
     {.max_send_data = 4096, .first_burst = 65536, .initial_r2t = false, .immediate_data = false},
     5000,
     0,
     {{0, 4096}, {4096, 904}}},
    {"FirstBurstThatEndsWithinAPdu",
     {.max_send_data = 4096, .first_burst = 6002, .initial_r2t = false},
     65536,
     4096,
     {{4096, 1906}}},
    {"FirstBurstThatImmediateDataFills",
     {.max_send_data = 8192, .first_burst = 8192, .initial_r2t = false},
     65536,
     8192,
     {}},
};

class SessionUnasked : public SessionTest, public testing::WithParamInterface<Unasked> {
protected:
    /// The command and the data behind it; whether that is what the row says.
    void expect_write(const Bytes& buffer, bool digests) {
        const Unasked& row = GetParam();
        const Pdu first = receive_pdu();
        const auto command = first.as<ScsiCommand>();
        EXPECT_EQ(command.expected_length, row.length);
        EXPECT_EQ(command.flags, command_flag::kWrite | command_flag::kSimple |
                                     (row.pieces.empty() ? kFinal : std::uint8_t{0}))
            << "F: no data follows unasked";
        EXPECT_EQ(first.data(), slice(buffer, 0, row.immediate));
        EXPECT_TRUE(first.digests_match || !digests);
        for (std::size_t i = 0; i < row.pieces.size(); ++i) {
            const Pdu pdu = receive_pdu();
            const auto data = pdu.as<DataOut>();
            EXPECT_EQ(data.opcode, 0x05);
            EXPECT_EQ(data.flags, i + 1 == row.pieces.size() ? kFinal : 0);
            EXPECT_EQ(data.task_tag, command.task_tag);
            EXPECT_EQ(data.target_tag, kNoTag);
            EXPECT_EQ(data.data_sn, i);
            EXPECT_EQ(data.offset, row.pieces[i].offset);
            EXPECT_EQ(pdu.data(), slice(buffer, row.pieces[i].offset, row.pieces[i].length));
            EXPECT_TRUE(pdu.digests_match || !digests);
        }
        tag_ = command.task_tag;
    }
    std::uint32_t tag_ = 0;
};

TEST_P(SessionUnasked, DataGoesAsFarAsWasAgreedOn) {
    for (const Agreement& agreed : kAgreements) {
        open(with_digests(agreed.header, agreed.data, GetParam().parameters));
        Bytes buffer = pattern(GetParam().length);
        submit_write(buffer);
        submit_write(buffer); // right behind it
        session_->flush();
        expect_write(buffer, true);
        expect_write(buffer, true);
        EXPECT_TRUE(nothing_arrives()) << agreed.name;
        session_->close({0, {}}, net::Stream::Ending::orderly);
        ASSERT_TRUE(run_until_closed());
        closed_.reset();
        session_.reset();
    }
}

TEST_P(SessionUnasked, DataIsContinuedByWhatTheTargetAsksFor) {
    open(GetParam().parameters);
    Bytes buffer = pattern(GetParam().length);
    submit_write(buffer);
    session_->flush();
    expect_write(buffer, false);
    const auto& pieces = GetParam().pieces;
    std::uint32_t done = pieces.empty() ? GetParam().immediate : pieces.back().offset + pieces.back().length;
    if (done < buffer.size()) {
        target_->send(target_->r2t(tag_, 0, 7, done, static_cast<std::uint32_t>(buffer.size()) - done));
    }
    for (std::uint32_t sn = 0; done < buffer.size() && !HasFailure(); ++sn) {
        const Pdu pdu = receive_pdu();
        EXPECT_EQ(pdu.as<DataOut>().target_tag, 7U);
        EXPECT_EQ(pdu.as<DataOut>().data_sn, sn);
        EXPECT_EQ(pdu.as<DataOut>().offset, done);
        EXPECT_EQ(pdu.data(), slice(buffer, done, pdu.data().size()));
        done += static_cast<std::uint32_t>(pdu.data().size());
    }
    target_->send(target_->response(tag_));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded());
}

INSTANTIATE_TEST_SUITE_P(Rows, SessionUnasked, testing::ValuesIn(kUnasked),
                         [](const auto& row) { return row.param.name; });

class SessionWrite : public SessionTest {};

TEST_F(SessionWrite, PaddingIsZeroAndNotOfTheBuffer) {
    open();
    Bytes buffer(8, std::byte{0xff});
    submit(Transfer::to_target, buffer.data(), 5);
    session_->flush();
    const Pdu pdu = receive_pdu();
    EXPECT_EQ(pdu.as<ScsiCommand>().data_length, 5U);
    EXPECT_EQ(slice(pdu.bytes, kBhsSize + 5, 3), Bytes(3));
}

TEST_F(SessionWrite, KeepsUnaskedDataBackWhereTheBatchHasNoRoomForAllOfIt) {
    // More PDUs than a batch has pieces for.
    open({.max_send_data = 512, .first_burst = 1024 * 1024, .initial_r2t = false});
    Bytes buffer = pattern(1024 * 1024);
    submit_write(buffer);
    session_->flush();
    const auto command = receive_pdu().as<ScsiCommand>();
    EXPECT_EQ(command.data_length, 512U);
    EXPECT_NE(command.flags & kFinal, 0) << "all that is allowed, or nothing";
    EXPECT_TRUE(nothing_arrives());
}

TEST_F(SessionWrite, FitsTheSendBatchHoweverItIsFilled) { // under asan this is the proof
    for (const Agreement& agreed : kAgreements) {
        for (const std::uint32_t length : {1U, 511U, 5000U}) {
            open(with_digests(agreed.header, agreed.data,
                              {.max_send_data = 1021, .first_burst = 4001, .initial_r2t = false}),
                 4095);
            Bytes buffer = pattern(length);
            std::uint32_t submitted = 0;
            while (!session_->full()) {
                submit_write(buffer);
                ++submitted;
            }
            session_->flush();
            std::uint32_t commands = 0;
            while (commands < submitted && !HasFailure()) {
                const Pdu pdu = receive_pdu();
                EXPECT_TRUE(pdu.digests_match);
                commands += pdu.opcode() == Opcode::scsi_command ? 1 : 0;
            }
            session_->close({0, {}}, net::Stream::Ending::orderly);
            ASSERT_TRUE(run_until_closed());
            closed_.reset();
            session_.reset();
        }
    }
}

TEST_F(SessionWrite, ManyCommandsOfOneFlushAreOneBatchTheirDataIncluded) {
    open({.max_send_data = 1024, .initial_r2t = false});
    Bytes buffer = pattern(4096);
    for (int i = 0; i < 32; ++i) {
        submit_write(buffer);
    }
    session_->flush();
    for (int i = 0; i < 32 * 4; ++i) {
        EXPECT_EQ(receive_pdu().data().size(), 1024U);
    }
    ASSERT_TRUE(run_until([this] { return rooms_ > 0; }));
    settle();
    EXPECT_EQ(rooms_, 1);
    EXPECT_EQ(session_->statistics().pdus_sent, 128U);
}

TEST_F(SessionWrite, ThatTheTargetTookOnlyPartOfIsShort) {
    open();
    Bytes buffer = pattern(4096);
    target_->send(target_->response(start_write(buffer), 0, {}, residual_flag::kUnderflow, 96));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status, 0);
    EXPECT_EQ(done_[0].asked, 4096U);
    EXPECT_EQ(done_[0].moved, 4000U);
}

TEST_F(SessionWrite, OfSuccessWhoseDataWasNeverAskedForIsShort) {
    open({.max_send_data = 1024});
    Bytes buffer = pattern(4096);
    const auto tag = start_write(buffer);
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status, 0);
    EXPECT_EQ(done_[0].moved, 1024U) << "what went with the command";
}

} // namespace
} // namespace mpath::iscsi::test
