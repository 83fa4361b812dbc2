// SPDX-License-Identifier: GPL-2.0-only
// Data that a target sends for a command, in every shape the standard allows.
#include <array>

#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

using data_in_flag::kStatus;

class SessionRead : public SessionTest {};

TEST_F(SessionRead, CommandAsksForItsData) {
    open();
    Bytes buffer(4096);
    session_->submit(block_command(scsi_opcode::kRead16, 0, 7, 8), kLun, Transfer::to_host, buffer.data(),
                     4096, nullptr);
    session_->flush();
    const Pdu pdu = receive();
    const auto command = pdu.as<ScsiCommand>();
    EXPECT_EQ(command.opcode, 0x01) << "not immediate";
    EXPECT_EQ(command.flags, kFinal | command_flag::kRead | command_flag::kSimple);
    EXPECT_EQ(command.ahs_length, 0);
    EXPECT_EQ(command.data_length, 0U);
    EXPECT_EQ(command.lun, kLun);
    EXPECT_EQ(command.expected_length, 4096U);
    EXPECT_EQ(command.cmd_sn, kNumbers.cmd_sn);
    EXPECT_EQ(command.exp_stat_sn, kNumbers.exp_stat_sn);
    EXPECT_EQ(command.cdb, (Cdb{0x88, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0}));
}

TEST_F(SessionRead, CommandWithoutDataNeitherReadsNorWrites) {
    open();
    submit(Transfer::none, nullptr, 0);
    session_->flush();
    const auto command = receive().as<ScsiCommand>();
    EXPECT_EQ(command.flags, kFinal | command_flag::kSimple);
    EXPECT_EQ(command.expected_length, 0U);
}

TEST_F(SessionRead, DataWithStatusCompletesWithoutAResponse) {
    open();
    const Bytes data = pattern(4096);
    Bytes buffer(4096);
    int owner = 0;
    target_->send(target_->answer_read(start_read(buffer, &owner), data));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.owner, &owner);
    EXPECT_TRUE(succeeded(done_[0].end));
    EXPECT_EQ(buffer, data);
    EXPECT_EQ(session_->outstanding(), 0U);
}

TEST_F(SessionRead, ResponseBehindTheDataCompletes) {
    open();
    const Bytes data = pattern(4096);
    Bytes buffer(4096);
    const auto tag = start_read(buffer);
    target_->send(target_->data_in(tag, 0, data, kFinal));
    settle();
    EXPECT_TRUE(done_.empty()) << "the last data alone ends nothing";
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
    EXPECT_EQ(buffer, data);
}

TEST_F(SessionRead, MayHaveItsStatusInAPduWithoutData) {
    open();
    Bytes buffer(512);
    const auto tag = start_read(buffer);
    target_->send(
        {target_->data_in(tag, 0, pattern(512), 0), target_->data_in(tag, 0, {}, kFinal | kStatus)});
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionRead, EndsWithStatusAndSenseOfTheResponse) {
    open();
    Bytes buffer(4096);
    const Bytes sense = sense_segment(sense_key::kMediumError, 0x11, 0);
    target_->send(target_->response(start_read(buffer), scsi_status::kCheckCondition, sense));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kCheckCondition);
    EXPECT_EQ(done_[0].end.moved, 0U);
    EXPECT_EQ(done_[0].sense, slice(sense, 2, sense.size() - 2)) << "without its length";
}

struct SenseShape {
    const char* name;
    Bytes segment;
    std::size_t length; ///< of the sense data that is in it
};

class SessionSense : public SessionTest, public testing::WithParamInterface<SenseShape> {};

TEST_P(SessionSense, IsAsMuchAsTheSegmentHolds) {
    open();
    target_->send(target_->response(start_flush(), scsi_status::kCheckCondition, GetParam().segment));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].sense,
              GetParam().length == 0 ? Bytes{} : slice(GetParam().segment, 2, GetParam().length));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SessionSense,
    testing::Values(SenseShape{"None", {}, 0}, SenseShape{"HalfALength", Bytes(1), 0},
                    SenseShape{"LengthOfNothing", Bytes(2), 0},
                    SenseShape{"LengthBeyondTheSegment", Bytes(20, std::byte{0xff}), 18},
                    SenseShape{"FollowedByResponseData", Bytes{std::byte{0}, std::byte{4}} + pattern(40), 4},
                    SenseShape{"OfTheLargestSize", Bytes{std::byte{0}, std::byte{252}} + pattern(252), 252}),
    [](const auto& row) { return row.param.name; });

struct ReadShape {
    const char* name;
    SessionParameters parameters;
    std::vector<std::uint32_t> pieces; ///< bytes of each Data-In
    bool with_status;                  ///< the last one has it; else a response follows

    [[nodiscard]] std::uint32_t length() const {
        std::uint32_t sum = 0;
        for (const std::uint32_t piece : pieces) {
            sum += piece;
        }
        return sum;
    }
};

/// What answers one read of `data`.
Bytes answer_in(const ReadShape& shape, ScriptedTarget& target, std::uint32_t tag, const Bytes& data) {
    Bytes stream;
    std::uint32_t offset = 0;
    for (std::size_t i = 0; i < shape.pieces.size(); ++i) {
        const bool last = i + 1 == shape.pieces.size();
        const auto flags =
            static_cast<std::uint8_t>((last ? kFinal : 0) | (last && shape.with_status ? kStatus : 0));
        stream = stream + target.data_in(tag, offset, slice(data, offset, shape.pieces[i]), flags);
        offset += shape.pieces[i];
    }
    return shape.with_status ? stream : stream + target.response(tag);
}

const std::vector<ReadShape> kSmallShapes = {
    {"OnePdu", {}, {512}, true},
    {"OnePduAndResponse", {}, {512}, false},
    {"OddPieces", {}, {1, 3, 255, 253}, true},
    {"OddPiecesWithDigests", with_digests(), {1, 3, 255, 253}, true},
    {"OddEndWithDigestsAndResponse", with_digests(), {100, 411}, false},
    {"HeaderDigestOnly", {.header_digest = true}, {510, 2}, true},
    {"DataDigestOnly", {.data_digest = true}, {510, 2}, true},
};

class SessionReadShape : public SessionTest, public testing::WithParamInterface<ReadShape> {};

TEST_P(SessionReadShape, GivesTheSameInEveryCutOfTheByteStream) {
    open({.parameters = GetParam().parameters});
    const Bytes data = pattern(GetParam().length());
    std::size_t length = 2;
    for (std::size_t cut = 1; cut < length; ++cut) {
        Bytes buffer(data.size());
        done_.clear();
        const Bytes stream = answer_in(GetParam(), *target_, start_read(buffer), data);
        length = stream.size();
        target_->send(slice(stream, 0, cut));
        reactor_->run(0);
        reactor_->run(0);
        target_->send(slice(stream, cut, length - cut));
        ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
        ASSERT_TRUE(succeeded(done_[0].end)) << "cut at " << cut;
        ASSERT_EQ(buffer, data) << "cut at " << cut;
    }
}

TEST_P(SessionReadShape, GivesTheSameWithEveryByteInItsOwnSegment) {
    open({.parameters = GetParam().parameters});
    const Bytes data = pattern(GetParam().length());
    Bytes buffer(data.size());
    for (const std::byte byte : answer_in(GetParam(), *target_, start_read(buffer), data)) {
        target_->send(Bytes{byte});
        reactor_->run(0);
    }
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
    EXPECT_EQ(buffer, data);
}

TEST_P(SessionReadShape, GivesTheSameForManyCommandsInOneSegment) {
    open({.parameters = GetParam().parameters});
    std::array<Bytes, 31> buffers;
    Bytes stream;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i].resize(GetParam().length());
        stream = stream + answer_in(GetParam(), *target_, start_read(buffers[i]),
                                    pattern(buffers[i].size(), static_cast<unsigned>(i)));
    }
    target_->send(stream);
    ASSERT_TRUE(run_until_done(buffers.size()));
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        EXPECT_EQ(buffers[i], pattern(buffers[i].size(), static_cast<unsigned>(i)));
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SessionReadShape, testing::ValuesIn(kSmallShapes),
                         [](const auto& row) { return row.param.name; });

/// Lengths that cross both thresholds: received directly from 16 KiB on, as a whole from 32 KiB on.
const std::vector<ReadShape> kLargeShapes = {
    {"DirectFrom16KiB", {.max_receive_data = 262144}, {20'000}, true},
    {"WholeFrom32KiB", {.max_receive_data = 262144}, {128 * 1024}, false},
    {"ManyOddPdus", {.max_receive_data = 262144}, {1, 40'000, 33, 32'767, 16'385, 9'999, 31'887}, true},
    {"ManyOddPdusWithDigests",
     with_digests({.max_receive_data = 262144}),
     {1, 40'001, 33, 32'767, 16'385, 9'999, 31'886},
     true},
};

class SessionLargeRead : public SessionTest, public testing::WithParamInterface<ReadShape> {};

TEST_P(SessionLargeRead, GivesTheSameInCutsAroundEveryEdge) {
    const ReadShape& shape = GetParam();
    open({.parameters = shape.parameters});
    const Bytes data = pattern(shape.length());
    const std::size_t head = kBhsSize + (shape.parameters.header_digest ? kDigestSize : 0);
    std::vector<std::size_t> cuts = {1, head - 1, head, head + 1, shape.length() / 2};
    std::size_t edge = 0;
    for (const std::uint32_t piece : shape.pieces) {
        edge += head + piece;
        for (const std::size_t around :
             {edge - 1, edge, edge + 1, edge + 3, edge + 5, edge + 47, edge + 56}) {
            cuts.push_back(around);
        }
        edge += padded(piece) - piece + (shape.parameters.data_digest ? kDigestSize : 0);
    }
    for (const std::size_t cut : cuts) {
        Bytes buffer(data.size());
        done_.clear();
        const Bytes stream = answer_in(shape, *target_, start_read(buffer), data);
        const std::size_t first = std::min(cut, stream.size());
        target_->send(slice(stream, 0, first));
        reactor_->run(0);
        reactor_->run(0);
        target_->send(slice(stream, first, stream.size() - first));
        ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
        ASSERT_TRUE(succeeded(done_[0].end)) << "cut at " << cut;
        ASSERT_TRUE(buffer == data) << "cut at " << cut;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SessionLargeRead, testing::ValuesIn(kLargeShapes),
                         [](const auto& row) { return row.param.name; });

TEST_F(SessionRead, OfALargeSizeIsReceivedWhereItBelongsFromTheFirstOneOn) {
    open({.parameters = {.max_receive_data = 262144}});
    const Bytes data = pattern(128 * 1024);
    Bytes buffer(data.size());
    for (std::size_t i = 1; i <= 3; ++i) { // one after the other: no other large read keeps the window small
        target_->send(target_->answer_read(start_read(buffer), data));
        ASSERT_TRUE(run_until_done(i));
        EXPECT_TRUE(buffer == data);
    }
    const auto& wire = session_->wire_statistics();
    EXPECT_EQ(wire.bytes_received, 3 * (data.size() + kBhsSize));
    EXPECT_EQ(wire.bytes_received_direct + session_->statistics().payload_copied, 3 * data.size());
    EXPECT_LE(session_->statistics().payload_copied, 3 * (kBhsSize + kDigestSize + 3));
}

TEST_F(SessionRead, OfALargeSizeLeavesTheWindowToSmallOnesAfterwards) {
    open({.parameters = {.max_receive_data = 262144}, .commands = 128});
    Bytes large(64 * 1024);
    target_->send(target_->answer_read(start_read(large), pattern(large.size())));
    ASSERT_TRUE(run_until_done(1));
    // The receive that is under way still has the small window; the one behind it takes all there is.
    std::array<Bytes, 100> small;
    Bytes stream;
    for (Bytes& buffer : small) {
        buffer.resize(4096);
        stream = stream + target_->answer_read(start_read(buffer), pattern(4096));
    }
    const auto calls = reactor_->system_calls();
    target_->send(stream);
    ASSERT_TRUE(run_until_done(1 + small.size()));
    EXPECT_LT(reactor_->system_calls() - calls, small.size() / 2);
}

struct ShortRead {
    const char* name;
    std::uint32_t sent; ///< of 1024 bytes asked for
    bool with_status;   ///< else a response follows
    std::uint32_t residual;
    std::uint32_t moved;
};

class SessionShortRead : public SessionTest, public testing::WithParamInterface<ShortRead> {};

TEST_P(SessionShortRead, SaysHowMuchCame) {
    open();
    Bytes buffer(1024);
    const auto tag = start_read(buffer);
    const auto [name, sent, with_status, residual, moved] = GetParam();
    const std::uint8_t underflow = residual > 0 ? residual_flag::kUnderflow : 0;
    if (with_status) {
        target_->send(target_->data_in(tag, 0, pattern(sent),
                                       static_cast<std::uint8_t>(kFinal | kStatus | underflow), 0, residual));
    } else {
        if (sent > 0) {
            target_->send(target_->data_in(tag, 0, pattern(sent), kFinal));
        }
        ScsiResponse pdu;
        pdu.flags = static_cast<std::uint8_t>(kFinal | underflow);
        pdu.task_tag = tag;
        pdu.residual = residual;
        target_->send(target_->wire(pdu, {}, true));
    }
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kGood);
    EXPECT_EQ(done_[0].end.asked, 1024U);
    EXPECT_EQ(done_[0].end.moved, moved);
    EXPECT_FALSE(closed_) << "the connection goes on";
}

INSTANTIATE_TEST_SUITE_P(Rows, SessionShortRead,
                         testing::Values(ShortRead{"NoDataAtAll", 0, false, 1024, 0},
                                         ShortRead{"NoDataAtAllAndNotSaid", 0, false, 0, 0},
                                         ShortRead{"HalfTheData", 512, false, 512, 512},
                                         ShortRead{"HalfTheDataWithStatus", 512, true, 512, 512},
                                         ShortRead{"HalfTheDataAndNotSaid", 512, true, 0, 512},
                                         ShortRead{"AllTheDataButSaidToBeShort", 1024, true, 24, 1000},
                                         ShortRead{"ResidualBeyondAll", 1024, false, 0xffffffff, 0}),
                         [](const auto& row) { return row.param.name; });

TEST_F(SessionRead, WithMoreThanWasAskedForSaidToBeThereIsComplete) {
    open();
    Bytes buffer(512);
    const auto flags = static_cast<std::uint8_t>(kFinal | kStatus | residual_flag::kOverflow);
    target_->send(target_->data_in(start_read(buffer), 0, pattern(512), flags, 0, 100));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionRead, ThatTheTargetCouldNotCarryOutHasNoStatus) {
    open();
    Bytes buffer(512);
    ScsiResponse pdu;
    pdu.task_tag = start_read(buffer);
    pdu.response = 1;
    pdu.status = scsi_status::kBusy;
    target_->send(target_->wire(pdu, {}, true));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].end.failed);
    EXPECT_FALSE(done_[0].end.lost);
    EXPECT_EQ(done_[0].end.status, 0);
}

} // namespace
} // namespace mpath::iscsi::test
