// SPDX-License-Identifier: GPL-2.0-only
// From I/Os to SCSI commands: which ones, of what length, with which data.
#include "tests/unit/iscsi_io_path/io_path_fixture.h"

namespace mpath::iscsi::test {
namespace {

constexpr std::uint32_t kMiB = 1024 * 1024;

struct Expected {
    std::uint64_t lba;
    std::uint32_t blocks;
};

struct Split {
    const char* name;
    PathShape shape;
    std::uint64_t offset;
    std::uint32_t length;
    std::vector<Expected> commands;
};

const std::vector<Split> kSplits = {
    {"OneBlock", {}, 512, 512, {{1, 1}}},
    {"ExactlyOneCommand", {}, 0, 8192, {{0, 16}}},
    {"OneBlockMore", {}, 0, 8704, {{0, 16}, {16, 1}}},
    {"LargeBlocks", {.block_size = 4096}, 40960, 20480, {{10, 2}, {12, 2}, {14, 1}}},
    {"LimitBetweenBlocks", {.block_size = 4096, .max_transfer = 6000}, 0, 8192, {{0, 1}, {1, 1}}},
    {"NoLimit", {.max_transfer = 0}, 0, 64 * kMiB, {{0, 131072}}},
    {"BeyondTwoTebiblocks", {}, std::uint64_t{1} << 43, 512, {{std::uint64_t{1} << 34, 1}}},
};

class IoPathSplit : public IoPathTest, public testing::WithParamInterface<Split> {};

TEST_P(IoPathSplit, CoversTheRequestInCommandsOfAtMostTheLimit) {
    const Split& row = GetParam();
    open(row.shape);
    const Request& request = submit(0, Operation::read, row.offset, row.length);
    path_->flush();
    EXPECT_EQ(request.commands, row.commands.size());
    for (const Expected& expected : row.commands) {
        const ScsiCommand command = receive_command();
        const BlockCdb cdb = block_of(command);
        EXPECT_EQ(cdb.opcode, scsi_opcode::kRead16);
        EXPECT_EQ(cdb.flags, 0);
        EXPECT_EQ(cdb.lba, expected.lba);
        EXPECT_EQ(cdb.blocks, expected.blocks);
        EXPECT_EQ(command.expected_length, expected.blocks * row.shape.block_size);
        EXPECT_NE(command.flags & command_flag::kRead, 0);
    }
    EXPECT_TRUE(nothing_arrives());
    EXPECT_EQ(path_->traffic().commands, row.commands.size());
}

INSTANTIATE_TEST_SUITE_P(Rows, IoPathSplit, testing::ValuesIn(kSplits),
                         [](const auto& row) { return row.param.name; });

class IoPathCommand : public IoPathTest {};

TEST_F(IoPathCommand, OfASplitReadPutsItTogetherWhateverTheOrderOfAnswers) {
    open();
    const Bytes data = pattern(20 * 1024);
    Bytes buffer(data.size());
    submit(0, Operation::read, 0, static_cast<std::uint32_t>(data.size()), buffer.data());
    path_->flush();
    std::vector<ScsiCommand> commands;
    for (int i = 0; i < 3; ++i) {
        commands.push_back(receive_command());
    }
    for (const int i : {2, 0, 1}) {
        EXPECT_TRUE(completed_.empty());
        const BlockCdb cdb = block_of(commands[i]);
        targets_[0]->send(targets_[0]->data_in(commands[i].task_tag, 0,
                                               slice(data, cdb.lba * 512, cdb.blocks * std::size_t{512}),
                                               kFinal | data_in_flag::kStatus));
        settle();
    }
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(buffer, data);
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
    EXPECT_EQ(path_->outstanding(), 0U);
}

TEST_F(IoPathCommand, OfASplitWriteTakesItsPlaceInTheBuffer) {
    open();
    Bytes buffer = pattern(20 * 1024);
    submit(0, Operation::write, 0, static_cast<std::uint32_t>(buffer.size()), buffer.data());
    path_->flush();
    Bytes received;
    for (int i = 0; i < 3; ++i) {
        const Pdu pdu = receive_pdu();
        const auto command = pdu.as<ScsiCommand>();
        EXPECT_EQ(block_of(command).opcode, scsi_opcode::kWrite16);
        EXPECT_EQ(block_of(command).flags, 0);
        received = received + pdu.data;
        answer(command);
    }
    EXPECT_EQ(received, buffer);
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
}

TEST_F(IoPathCommand, OfASynchronousWriteIsForcedToTheMediumWhereTheUnitKnowsThat) {
    for (const bool known : {false, true}) {
        open({.features = {.force_unit_access = known}, .writes = {true, false}});
        Bytes buffer(512);
        submit(0, Operation::write, 0, 512, buffer.data());
        submit(1, Operation::read, 0, 512, buffer.data());
        path_->flush();
        EXPECT_EQ(block_of(receive_command()).flags, known ? cdb_flag::kForceUnitAccess : 0);
        EXPECT_EQ(block_of(receive_command()).flags, 0) << "reads are not";
        TearDown();
    }
}

TEST_F(IoPathCommand, OfAFlushIsForAllOfTheUnitAndWaits) {
    open();
    submit(0, Operation::flush, 0, 0);
    path_->flush();
    const ScsiCommand command = receive_command();
    const BlockCdb cdb = block_of(command);
    EXPECT_EQ(cdb.opcode, scsi_opcode::kSynchronizeCache16);
    EXPECT_EQ(cdb.flags, 0) << "not IMMED";
    EXPECT_EQ(cdb.lba, 0U);
    EXPECT_EQ(cdb.blocks, 0U);
    EXPECT_EQ(command.expected_length, 0U);
    EXPECT_EQ(command.flags & (command_flag::kRead | command_flag::kWrite), 0);
    answer(command);
    ASSERT_TRUE(run_until_completed(1));
}

TEST_F(IoPathCommand, OfATrimIsUnmapOfOneRange) {
    open({.features = {.unmap = true, .write_same_unmap = true}});
    submit(0, Operation::trim, 3 * 512, kMiB); // not split: the transfer limit is about data
    path_->flush();
    const Pdu pdu = receive_pdu();
    const auto command = pdu.as<ScsiCommand>();
    UnmapCdb cdb;
    std::memcpy(&cdb, command.cdb.data(), sizeof cdb);
    EXPECT_EQ(cdb.opcode, scsi_opcode::kUnmap);
    EXPECT_EQ(cdb.flags, 0);
    EXPECT_EQ(cdb.length, 24U);
    EXPECT_EQ(command.expected_length, 24U);
    ASSERT_EQ(pdu.data.size(), 24U);
    UnmapHeader header;
    UnmapDescriptor range;
    std::memcpy(&header, pdu.data.data(), sizeof header);
    std::memcpy(&range, pdu.data.data() + sizeof header, sizeof range);
    EXPECT_EQ(header.length, 22U);
    EXPECT_EQ(header.descriptors_length, 16U);
    EXPECT_EQ(range.lba, 3U);
    EXPECT_EQ(range.blocks, 2048U);
    answer(command);
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
}

TEST_F(IoPathCommand, OfATrimBeyondTheLimitIsSplit) {
    open({.max_trim = 4096, .features = {.unmap = true}});
    submit(0, Operation::trim, 512, 8192);
    path_->flush();
    for (const auto& [lba, blocks] : {std::pair{1U, 8U}, {9U, 8U}}) {
        const Pdu pdu = receive_pdu();
        UnmapDescriptor range;
        std::memcpy(&range, pdu.data.data() + sizeof(UnmapHeader), sizeof range);
        EXPECT_EQ(range.lba, lba);
        EXPECT_EQ(range.blocks, blocks);
        answer(pdu.as<ScsiCommand>());
    }
    ASSERT_TRUE(run_until_completed(1));
}

TEST_F(IoPathCommand, OfSeveralTrimsStaysApartUntilTheTargetAsksForItsData) {
    open({.features = {.unmap = true}, .parameters = {.immediate_data = false}});
    for (std::uint32_t i = 0; i < 4; ++i) {
        submit(i, Operation::trim, i * 8192ULL, 512 * (i + 1));
    }
    path_->flush();
    std::vector<std::uint32_t> tags;
    for (int i = 0; i < 4; ++i) {
        tags.push_back(receive_command().task_tag);
    }
    for (std::uint32_t i = 4; i-- > 0;) {
        targets_[0]->send(targets_[0]->r2t(tags[i], 1, 0, 24));
        UnmapDescriptor range;
        std::memcpy(&range, receive_pdu().data.data() + sizeof(UnmapHeader), sizeof range);
        EXPECT_EQ(range.lba, i * 16);
        EXPECT_EQ(range.blocks, i + 1);
    }
}

TEST_F(IoPathCommand, OfATrimIsWriteSameWhereUnmapCantBe) {
    open({.features = {.write_same_unmap = true}});
    submit(0, Operation::trim, 512, 8192);
    path_->flush();
    const Pdu pdu = receive_pdu();
    const BlockCdb cdb = block_of(pdu.as<ScsiCommand>());
    EXPECT_EQ(cdb.opcode, scsi_opcode::kWriteSame16);
    EXPECT_EQ(cdb.flags, cdb_flag::kUnmap);
    EXPECT_EQ(cdb.lba, 1U);
    EXPECT_EQ(cdb.blocks, 16U);
    EXPECT_EQ(pdu.data, Bytes(512)) << "one block of zeroes";
}

TEST_F(IoPathCommand, OfZeroesCarriesOneBlockOfThemForAll) {
    open({.block_size = 4096, .max_transfer = 4096, .max_write_zeroes = 16384, .writes = {false, true}});
    submit(0, Operation::write, 0, 20480);
    path_->flush();
    for (const auto& [lba, blocks] : {std::pair{0U, 4U}, {4U, 1U}}) {
        const Pdu pdu = receive_pdu();
        const auto command = pdu.as<ScsiCommand>();
        EXPECT_EQ(block_of(command).opcode, scsi_opcode::kWriteSame16);
        EXPECT_EQ(block_of(command).flags, 0);
        EXPECT_EQ(block_of(command).lba, lba);
        EXPECT_EQ(block_of(command).blocks, blocks);
        EXPECT_EQ(command.expected_length, 4096U);
        EXPECT_EQ(pdu.data, Bytes(4096));
        answer(command);
    }
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
}

// ---- several sessions, and what finds no room

class IoPathSessions : public IoPathTest {};

TEST_F(IoPathSessions, ShareTheLoad) {
    open({.sessions = 4});
    for (std::uint32_t i = 0; i < 8; ++i) {
        submit(i, Operation::read, i * 512ULL, 512);
    }
    path_->flush();
    for (std::uint64_t session = 0; session < 4; ++session) {
        EXPECT_EQ(block_of(receive_command(session)).lba, session);
        EXPECT_EQ(block_of(receive_command(session)).lba, session + 4);
        EXPECT_TRUE(nothing_arrives(session));
    }
}

TEST_F(IoPathSessions, ThatTakeNoCommandNowArePassedOver) {
    open({.sessions = 2, .window = 2});
    ++targets_[1]->max_cmd_sn;
    targets_[1]->send(targets_[1]->news());
    settle();
    for (std::uint32_t i = 0; i < 5; ++i) {
        submit(i, Operation::flush, 0, 0);
    }
    path_->flush();
    for (const std::size_t session : {0U, 0U, 1U, 1U, 1U}) {
        receive_command(session);
    }
    EXPECT_TRUE(nothing_arrives(0));
}

TEST_F(IoPathSessions, HoldAtMostQueueSizeCommands) {
    open({.queue_size = 2});
    for (std::uint32_t i = 0; i < 4; ++i) {
        submit(i, Operation::flush, 0, 0);
    }
    path_->flush();
    const ScsiCommand first = receive_command();
    receive_command();
    EXPECT_TRUE(nothing_arrives());
    EXPECT_EQ(path_->outstanding(), 4U);
    answer(first);
    receive_command();
    EXPECT_TRUE(nothing_arrives());
}

TEST_F(IoPathSessions, GoOnOnceAClosedWindowOpensWithNothingUnderWay) {
    open({.window = 1});
    submit(0, Operation::flush, 0, 0);
    path_->flush();
    answer(receive_command()); // MaxCmdSN stays where it is
    ASSERT_TRUE(run_until_completed(1));
    submit(1, Operation::flush, 0, 0);
    submit(2, Operation::flush, 0, 0);
    path_->flush();
    EXPECT_TRUE(nothing_arrives());
    EXPECT_EQ(path_->outstanding(), 2U);
    targets_[0]->max_cmd_sn += 2;
    targets_[0]->send(targets_[0]->news());
    answer(receive_command());
    answer(receive_command());
    ASSERT_TRUE(run_until_completed(3));
    EXPECT_GT(requests_[1].waited, 0U);
}

TEST_F(IoPathSessions, CountTheirTrafficTogether) {
    open({.sessions = 2, .max_transfer = 0});
    Bytes small(512);
    Bytes large(64 * 1024);
    submit(0, Operation::read, 0, 512, small.data());
    path_->flush();
    targets_[0]->send(targets_[0]->answer_read(receive_command(0).task_tag, pattern(512)));
    ASSERT_TRUE(run_until_completed(1));
    submit(1, Operation::read, 0, 64 * 1024, large.data());
    path_->flush();
    const std::uint32_t tag = receive_command(1).task_tag;
    for (std::uint32_t offset = 0; offset < large.size(); offset += 8192) {
        targets_[1]->send(targets_[1]->data_in(tag, offset, pattern(8192), offset == 57344 ? kFinal : 0));
    }
    targets_[1]->send(targets_[1]->response(tag));
    ASSERT_TRUE(run_until_completed(2));
    EXPECT_EQ(requests_[1].error_class, ErrorClass::none);
    const PathTraffic traffic = path_->traffic();
    EXPECT_EQ(traffic.commands, 2U);
    EXPECT_EQ(traffic.pdus_sent, 2U);
    EXPECT_EQ(traffic.pdus_received, 10U);
    EXPECT_EQ(traffic.wire_bytes_sent, 2 * kBhsSize);
    EXPECT_EQ(traffic.wire_bytes_received, 10 * kBhsSize + 512 + 64 * 1024);
    EXPECT_EQ(traffic.payload_direct + traffic.payload_copied, 512U + 64 * 1024U);
    EXPECT_LT(traffic.payload_copied, 512U + 9 * kBhsSize) << "the large one went past the staging buffer";
}

} // namespace
} // namespace mpath::iscsi::test
