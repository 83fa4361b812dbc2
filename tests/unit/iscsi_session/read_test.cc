// SPDX-License-Identifier: GPL-2.0-only
// Data that comes from a target, in every split that the standard allows.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

using data_in_flag::kStatus;

class SessionRead : public SessionTest {};

TEST_F(SessionRead, IsOneCommandWithoutData) {
    open();
    Bytes buffer(4096);
    Cdb cdb{};
    cdb[0] = scsi_opcode::kRead16;
    cdb[15] = 0x5a;
    session_->submit(cdb, kLun, Transfer::to_host, buffer.data(), 4096, this);
    session_->flush();
    const Pdu pdu = receive_pdu();
    const auto command = pdu.as<ScsiCommand>();
    EXPECT_EQ(command.opcode, 0x01);
    EXPECT_EQ(command.flags, kFinal | command_flag::kRead | command_flag::kSimple);
    EXPECT_EQ(command.ahs_length, 0);
    EXPECT_EQ(command.data_length, 0U);
    EXPECT_EQ(command.lun, kLun);
    EXPECT_EQ(command.expected_length, 4096U);
    EXPECT_EQ(command.cmd_sn, kNumbers.cmd_sn);
    EXPECT_EQ(command.exp_stat_sn, kNumbers.exp_stat_sn);
    EXPECT_EQ(command.cdb, cdb);
    EXPECT_TRUE(nothing_arrives());

    target_->send(target_->whole_read(command.task_tag, pattern(4096)));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded());
    EXPECT_EQ(done_[0].owner, this);
    EXPECT_EQ(done_[0].asked, 4096U);
    EXPECT_EQ(done_[0].moved, 4096U);
    EXPECT_EQ(buffer, pattern(4096));
}

class SessionReadSplit : public SessionTest, public testing::WithParamInterface<Agreement> {
protected:
    void open_agreed() { open(with_digests(GetParam().header, GetParam().data)); }
    /// `data` in PDUs of the lengths in `pieces`; the status with the last of them, or in a response.
    Bytes answer(std::uint32_t tag, const Bytes& data, const std::vector<std::uint32_t>& pieces,
                 bool with_status) {
        Bytes stream;
        std::uint32_t offset = 0;
        for (std::uint32_t i = 0; i < pieces.size(); ++i) {
            const bool last = i + 1 == pieces.size();
            stream = stream + target_->data_in(tag, i, offset, slice(data, offset, pieces[i]),
                                               last ? kFinal | (with_status ? kStatus : 0U) : 0U);
            offset += pieces[i];
        }
        return with_status ? stream : stream + target_->response(tag);
    }
};

TEST_P(SessionReadSplit, OfSmallReadsGivesTheSameInEveryCut) {
    open_agreed();
    const Bytes data = pattern(512);
    for (const bool with_status : {false, true}) {
        std::size_t length = 2;
        for (std::size_t cut = 1; cut < length; ++cut) {
            Bytes buffer(512);
            done_.clear();
            const Bytes stream = answer(start_read(buffer), data, {1, 254, 257}, with_status);
            length = stream.size();
            target_->send(slice(stream, 0, cut));
            reactor_->run(0);
            reactor_->run(0);
            target_->send(slice(stream, cut, length - cut));
            ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
            ASSERT_TRUE(succeeded()) << "cut at " << cut;
            ASSERT_EQ(buffer, data) << "cut at " << cut;
        }
    }
}

TEST_P(SessionReadSplit, OfSmallReadsGivesTheSameByteForByte) {
    open_agreed();
    const Bytes data = pattern(511);
    Bytes buffer(511);
    for (const std::byte byte : answer(start_read(buffer), data, {99, 412}, true)) {
        target_->send(Bytes{byte});
        reactor_->run(0);
    }
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded());
    EXPECT_EQ(buffer, data);
}

TEST_P(SessionReadSplit, OfLargeReadsInSevenOddPdusGivesTheSameInEveryCut) {
    open_agreed();
    const std::vector<std::uint32_t> pieces = {40'000, 1, 33, 32'768, 16'385, 9'999, 31'886};
    const Bytes data = pattern(40'000 + 1 + 33 + 32'768 + 16'385 + 9'999 + 31'886);
    std::vector<std::size_t> cuts;
    std::size_t edge = 0;
    for (const std::uint32_t piece : pieces) {
        edge += kBhsSize + (GetParam().header ? 4 : 0) + padded(piece) + (GetParam().data ? 4 : 0);
        for (std::size_t around = edge - 9; around <= edge + 53; around += 2) {
            cuts.push_back(around);
        }
    }
    for (const std::size_t cut : cuts) {
        Bytes buffer(data.size());
        done_.clear();
        const Bytes stream = answer(start_read(buffer), data, pieces, false);
        const std::size_t place = std::min(cut, stream.size() - 1);
        target_->send(slice(stream, 0, place));
        reactor_->run(0);
        reactor_->run(0);
        target_->send(slice(stream, place, stream.size() - place));
        ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
        ASSERT_TRUE(succeeded()) << "cut at " << cut;
        ASSERT_TRUE(buffer == data) << "cut at " << cut;
    }
}

TEST_P(SessionReadSplit, OfLargeReadsReceivesThemWhereTheyBelong) {
    open_agreed();
    const Bytes data = pattern(128 * 1024);
    Bytes buffer(data.size());
    for (std::size_t i = 1; i <= 3; ++i) {
        target_->send(answer(start_read(buffer), data, {64 * 1024, 64 * 1024}, true));
        ASSERT_TRUE(run_until_done(i));
        EXPECT_TRUE(succeeded());
        EXPECT_TRUE(buffer == data);
    }
    EXPECT_LE(session_->statistics().payload_copied, 6 * (kBhsSize + 3 * kDigestSize));
}

INSTANTIATE_TEST_SUITE_P(Agreed, SessionReadSplit, testing::ValuesIn(kAgreements),
                         [](const auto& row) { return row.param.name; });

TEST_F(SessionRead, OfSeveralCommandsMayComeInTurns) {
    open();
    std::array<Bytes, 2> buffers = {Bytes(1000), Bytes(1000)};
    const auto first = start_read(buffers[0]);
    const auto second = start_read(buffers[1]);
    const std::array data = {pattern(1000, 1), pattern(1000, 2)};
    target_->send(stream_of({target_->data_in(second, 0, 0, slice(data[1], 0, 600)),
                             target_->data_in(first, 0, 0, slice(data[0], 0, 300)),
                             target_->data_in(second, 1, 600, slice(data[1], 600, 400), kFinal | kStatus),
                             target_->data_in(first, 1, 300, slice(data[0], 300, 700), kFinal),
                             target_->response(first)}));
    ASSERT_TRUE(run_until_done(2));
    EXPECT_EQ(done_[0].owner, &buffers[1]);
    EXPECT_EQ(done_[1].owner, &buffers[0]);
    EXPECT_EQ(buffers[0], data[0]);
    EXPECT_EQ(buffers[1], data[1]);
}

TEST_F(SessionRead, MayEndInSeveralSequencesAndAPduWithoutData) {
    open();
    Bytes buffer(1024);
    const auto tag = start_read(buffer);
    target_->send(target_->data_in(tag, 0, 0, pattern(512), kFinal) +
                  target_->data_in(tag, 1, 512, slice(pattern(1024), 512, 512), kFinal) +
                  target_->data_in(tag, 0, 0, {}, kFinal | kStatus)); // its numbers mean nothing
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded());
    EXPECT_EQ(buffer, pattern(1024));
}

// ---- data that is not all there

struct ShortRow {
    const char* name;
    std::uint32_t came;     ///< of 1024
    unsigned flags;         ///< residual_flag::
    std::uint32_t residual; ///< as the target says
    std::uint32_t moved;    ///< as we see it
};

class SessionShortRead : public SessionTest, public testing::WithParamInterface<ShortRow> {};

TEST_P(SessionShortRead, TellsHowMuchThereIsWhereverTheStatusComes) {
    const ShortRow& row = GetParam();
    open();
    for (const bool with_status : {false, true}) {
        Bytes buffer(1024);
        const auto tag = start_read(buffer);
        target_->send(with_status ? target_->data_in(tag, 0, 0, pattern(row.came),
                                                     kFinal | kStatus | row.flags, 0, row.residual)
                                  : target_->data_in(tag, 0, 0, pattern(row.came), kFinal) +
                                        target_->response(tag, 0, {}, row.flags, row.residual));
        ASSERT_TRUE(run_until_done(with_status ? 2 : 1));
        EXPECT_EQ(done_.back().status, 0);
        EXPECT_EQ(done_.back().asked, 1024U);
        EXPECT_EQ(done_.back().moved, row.moved);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, SessionShortRead,
    testing::Values(ShortRow{"Underflow", 1000, residual_flag::kUnderflow, 24, 1000},
                    ShortRow{"UnderflowNobodyTellsOf", 1000, 0, 0, 1000},
                    ShortRow{"UnderflowThatIsTooSmall", 1000, residual_flag::kUnderflow, 4, 1000},
                    ShortRow{"UnderflowThoughAllCame", 1024, residual_flag::kUnderflow, 24, 1000},
                    ShortRow{"UnderflowOfMoreThanAll", 1024, residual_flag::kUnderflow, 0xffffffff, 0},
                    ShortRow{"NothingAtAll", 0, residual_flag::kUnderflow, 1024, 0},
                    ShortRow{"ResidualWithoutItsFlag", 1024, 0, 24, 1024},
                    ShortRow{"Overflow", 1024, residual_flag::kOverflow, 512, 1024}),
    [](const auto& row) { return row.param.name; });

// ---- what else an answer says

TEST_F(SessionRead, StatusMayComeWithTheData) {
    open();
    Bytes buffer(512);
    target_->send(target_->data_in(start_read(buffer), 0, 0, pattern(512), kFinal | kStatus,
                                   scsi_status::kConditionMet));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status, scsi_status::kConditionMet);
    EXPECT_EQ(done_[0].moved, 512U);
}

TEST_F(SessionRead, SenseDataComesWithItsLength) {
    open();
    Bytes buffer(512);
    const Bytes sense = fixed_sense(sense_key::kUnitAttention, 0x2a, 0x06);
    target_->send(target_->response(start_read(buffer), scsi_status::kCheckCondition, sense));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status, scsi_status::kCheckCondition);
    EXPECT_EQ(done_[0].moved, 0U);
    EXPECT_EQ(done_[0].sense_data, sense);
    EXPECT_FALSE(closed_);
}

struct SenseRow {
    const char* name;
    std::uint16_t says; ///< of 4 bytes
    std::size_t comes;
    std::size_t kept;
};

class SessionSense : public SessionTest, public testing::WithParamInterface<SenseRow> {};

TEST_P(SessionSense, EndsWhereLengthOrSegmentEnd) {
    open();
    ScsiResponse pdu;
    pdu.status = scsi_status::kCheckCondition;
    pdu.task_tag = start_flush();
    const Bytes segment = bytes_of(Be16(GetParam().says)) + Bytes(4);
    target_->send(target_->sealed(target_->numbered(pdu), slice(segment, 0, GetParam().comes)));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].sense_data.size(), GetParam().kept);
}

INSTANTIATE_TEST_SUITE_P(Rows, SessionSense,
                         testing::Values(SenseRow{"Right", 4, 6, 4}, SenseRow{"Less", 3, 6, 3},
                                         SenseRow{"LengthLies", 0xffff, 6, 4}, SenseRow{"OneByte", 4, 1, 0},
                                         SenseRow{"LengthOnly", 4, 2, 0}, SenseRow{"Nothing", 0, 0, 0}),
                         [](const auto& row) { return row.param.name; });

TEST_F(SessionRead, OfATargetThatFailedHasNoStatus) {
    open();
    ScsiResponse pdu;
    pdu.response = 1;
    pdu.task_tag = start_flush();
    target_->send(target_->sealed(target_->numbered(pdu)));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].failed);
    EXPECT_FALSE(done_[0].lost);
}

} // namespace
} // namespace mpath::iscsi::test
