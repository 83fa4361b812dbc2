// SPDX-License-Identifier: GPL-2.0-only
// From I/Os to NVMe commands: how they are split, which queue gets them, what waits for room.
#include "tests/unit/nvme_queue/io_path_fixture.h"

namespace mpath::nvme::test {
namespace {

struct Command {
    std::uint64_t slba;
    std::uint32_t blocks;
};

struct Split {
    const char* name;
    PathShape shape;
    std::uint64_t offset;
    std::uint32_t length;
    std::vector<Command> commands;
};

constexpr std::uint32_t kMiB = 1024 * 1024;

const std::vector<Split> kSplits = {
    {"OneBlock", {}, 512, 512, {{1, 1}}},
    {"ExactlyOneCommand", {}, 0, 8192, {{0, 16}}},
    {"OneBlockMore", {}, 0, 8704, {{0, 16}, {16, 1}}},
    {"SeveralAndARest", {}, kMiB, 20 * 1024, {{2048, 16}, {2064, 16}, {2080, 8}}},
    {"LargeBlocks", {.block_size = 4096, .max_transfer = 8192}, 40960, 20480, {{10, 2}, {12, 2}, {14, 1}}},
    {"LimitBetweenBlocks", {.block_size = 4096, .max_transfer = 6000}, 0, 8192, {{0, 1}, {1, 1}}},
    {"NoLimit", {.max_transfer = 0}, 0, 16 * kMiB, {{0, 32768}}},
    {"NoLimitButTheCommandsOwn", {.max_transfer = 0}, 512, 32 * kMiB + 512, {{1, 65536}, {65537, 1}}},
    {"AtTheBoundary", {.max_transfer = 0, .boundary = 8192}, 4096, 16384, {{8, 8}, {16, 16}, {32, 8}}},
    {"WithinTheBoundary", {.max_transfer = 0, .boundary = 8192}, 8192, 8192, {{16, 16}}},
    {"AtABoundaryThatIsNoPowerOfTwo",
     {.max_transfer = 0, .boundary = 3072},
     2560,
     4096,
     {{5, 1}, {6, 6}, {12, 1}}},
    {"AtBoundaryAndLimit",
     {.max_transfer = 4096, .boundary = 6144},
     0,
     12288,
     {{0, 8}, {8, 4}, {12, 8}, {20, 4}}},
    {"BeyondFourGigablocks", {}, std::uint64_t{1} << 43, 512, {{std::uint64_t{1} << 34, 1}}},
};

class IoPathSplit : public IoPathTest, public testing::WithParamInterface<Split> {};

TEST_P(IoPathSplit, CoversTheRequestInCommandsOfAtMostTheLimit) {
    const Split& row = GetParam();
    open(row.shape);
    const Request& request = submit(0, Operation::read, row.offset, row.length);
    path_->flush();
    EXPECT_EQ(request.commands, row.commands.size());
    EXPECT_EQ(path_->outstanding(), 1U);
    for (const Command& expected : row.commands) {
        const RwCommand command = receive_command();
        EXPECT_EQ(command.opcode, io_opcode::kRead);
        EXPECT_EQ(command.nsid, kNsid);
        EXPECT_EQ(command.slba, expected.slba);
        EXPECT_EQ(command.nlb + 1U, expected.blocks);
        EXPECT_EQ(command.sgl.length, expected.blocks * row.shape.block_size);
    }
    EXPECT_TRUE(nothing_arrives());
    EXPECT_EQ(path_->traffic().commands, row.commands.size());
}

INSTANTIATE_TEST_SUITE_P(Rows, IoPathSplit, testing::ValuesIn(kSplits),
                         [](const auto& row) { return row.param.name; });

class IoPathData : public IoPathTest {};

TEST_F(IoPathData, OfASplitReadIsPutTogetherWhateverTheOrderOfAnswers) {
    open();
    const Bytes data = pattern(20 * 1024);
    Bytes buffer(data.size());
    submit(0, Operation::read, 0, static_cast<std::uint32_t>(data.size()), buffer.data());
    path_->flush();
    std::vector<RwCommand> commands;
    for (int i = 0; i < 3; ++i) {
        commands.push_back(receive_command());
    }
    for (const int i : {2, 0, 1}) {
        EXPECT_TRUE(completed_.empty());
        controllers_[0]->send(c2h_data(commands[i].cid, 0,
                                       slice(data, commands[i].slba * 512, (commands[i].nlb + 1U) * 512),
                                       pdu_flag::kLastPdu | pdu_flag::kSuccess));
        settle();
    }
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(buffer, data);
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
    EXPECT_GE(requests_[0].completed_at, requests_[0].dispatched_at);
    EXPECT_EQ(path_->outstanding(), 0U);
}

TEST_F(IoPathData, OfASplitWriteIsTakenFromItsPlaceInTheBuffer) {
    open();
    Bytes buffer = pattern(20 * 1024);
    submit(0, Operation::write, 0, static_cast<std::uint32_t>(buffer.size()), buffer.data());
    path_->flush();
    Bytes received;
    for (int i = 0; i < 3; ++i) {
        const Pdu pdu = receive_pdu();
        EXPECT_EQ(pdu.as<CapsuleCmd>().sqe.opcode, io_opcode::kWrite);
        received = received + pdu.payload();
        controllers_[0]->send(response(pdu.as<CapsuleCmd>().sqe.cid));
    }
    EXPECT_EQ(received, buffer);
    ASSERT_TRUE(run_until_completed(1));
}

struct ZeroesSplit {
    const char* name;
    std::uint64_t limit;
    std::vector<Command> commands;
};

class IoPathZeroes : public IoPathTest, public testing::WithParamInterface<ZeroesSplit> {};

TEST_P(IoPathZeroes, AreWrittenWithoutData) {
    open({.max_transfer = 1024, .max_write_zeroes = GetParam().limit, .writes = {false, true}});
    submit(0, Operation::write, 0, 20 * 1024);
    path_->flush();
    for (const Command& expected : GetParam().commands) {
        const Pdu pdu = receive_pdu();
        RwCommand command;
        std::memcpy(&command, pdu.bytes.data() + sizeof(CommonHeader), sizeof command);
        EXPECT_EQ(command.opcode, io_opcode::kWriteZeroes);
        EXPECT_EQ(command.slba, expected.slba);
        EXPECT_EQ(command.nlb + 1U, expected.blocks);
        EXPECT_EQ(command.sgl.length, 0U);
        EXPECT_TRUE(pdu.payload().empty());
        controllers_[0]->send(response(command.cid));
    }
    ASSERT_TRUE(run_until_completed(1));
}

INSTANTIATE_TEST_SUITE_P(Rows, IoPathZeroes,
                         testing::Values(ZeroesSplit{"WithoutALimit", 0, {{0, 40}}},
                                         ZeroesSplit{"OfTheirOwnLimit", 16384, {{0, 32}, {32, 8}}}),
                         [](const auto& row) { return row.param.name; });

TEST_F(IoPathData, OfASynchronousWriteIsForcedToTheMedium) {
    open({.writes = {true, false}});
    Bytes buffer(512);
    submit(0, Operation::write, 0, 512, buffer.data());
    submit(1, Operation::read, 0, 512, buffer.data());
    path_->flush();
    EXPECT_EQ(receive_command().control, kForceUnitAccess);
    EXPECT_EQ(receive_command().control, 0U) << "reads are not";
}

TEST_F(IoPathData, OfATrimBeyondTheRangeLimitIsSplit) {
    open({.max_trim = 4096});
    submit(0, Operation::trim, 512, 8192);
    path_->flush();
    for (const auto& [slba, blocks] : {std::pair{1U, 8U}, {9U, 8U}}) {
        const Pdu pdu = receive_pdu();
        DsmRange range;
        std::memcpy(&range, pdu.payload().data(), sizeof range);
        EXPECT_EQ(range.slba, slba);
        EXPECT_EQ(range.blocks, blocks);
        controllers_[0]->send(response(pdu.as<CapsuleCmd>().sqe.cid));
    }
    ASSERT_TRUE(run_until_completed(1));
}

TEST_F(IoPathData, OfATrimIsOneRange) {
    open();
    submit(0, Operation::trim, 3 * 512, kMiB); // not split: MDTS is about data, and there is hardly any
    path_->flush();
    const Pdu pdu = receive_pdu();
    const auto sqe = pdu.as<CapsuleCmd>().sqe;
    EXPECT_EQ(sqe.opcode, io_opcode::kDatasetManagement);
    EXPECT_EQ(sqe.nsid, kNsid);
    EXPECT_EQ(sqe.cdw10, 0U) << "one range";
    EXPECT_EQ(sqe.cdw11, 4U) << "deallocate";
    EXPECT_EQ(sqe.cdw12, 0U);
    EXPECT_EQ(sqe.sgl.length, 16U);
    ASSERT_EQ(pdu.payload().size(), 16U);
    DsmRange range;
    std::memcpy(&range, pdu.payload().data(), sizeof range);
    EXPECT_EQ(range.attributes, 0U);
    EXPECT_EQ(range.blocks, 2048U);
    EXPECT_EQ(range.slba, 3U);
    controllers_[0]->send(response(sqe.cid));
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, ErrorClass::none);
}

TEST_F(IoPathData, OfSeveralTrimsStaysApartUntilTheControllerAsksForIt) {
    open({.in_capsule = 0});
    for (std::uint32_t i = 0; i < 4; ++i) {
        submit(i, Operation::trim, i * 8192ULL, 512 * (i + 1));
    }
    path_->flush();
    std::vector<std::uint16_t> cids;
    for (int i = 0; i < 4; ++i) {
        cids.push_back(receive_command().cid);
    }
    for (std::uint32_t i = 4; i-- > 0;) {
        controllers_[0]->send(r2t(cids[i], 0, 0, 16));
        DsmRange range;
        std::memcpy(&range, receive_pdu().payload().data(), sizeof range);
        EXPECT_EQ(range.slba, i * 16);
        EXPECT_EQ(range.blocks, i + 1);
    }
}

TEST_F(IoPathData, OfAFlushIsNone) {
    open();
    submit(0, Operation::flush, 0, 0);
    path_->flush();
    const Pdu pdu = receive_pdu();
    EXPECT_EQ(pdu.bytes.size(), sizeof(CapsuleCmd));
    EXPECT_EQ(pdu.as<CapsuleCmd>().sqe.opcode, io_opcode::kFlush);
    EXPECT_EQ(pdu.as<CapsuleCmd>().sqe.nsid, kNsid);
    controllers_[0]->send(response(pdu.as<CapsuleCmd>().sqe.cid));
    ASSERT_TRUE(run_until_completed(1));
}

class IoPathQueues : public IoPathTest {};

TEST_F(IoPathQueues, ShareTheLoad) {
    open({.queues = 4});
    for (std::uint32_t i = 0; i < 8; ++i) {
        submit(i, Operation::read, i * 512ULL, 512);
    }
    path_->flush();
    for (std::uint64_t queue = 0; queue < 4; ++queue) {
        EXPECT_EQ(receive_command(queue).slba, queue);
        EXPECT_EQ(receive_command(queue).slba, queue + 4);
        EXPECT_TRUE(nothing_arrives(queue));
    }
}

TEST_F(IoPathQueues, ShareTheCommandsOfOneRequest) {
    open({.queues = 2});
    submit(0, Operation::read, 0, 4 * 8192);
    path_->flush();
    EXPECT_EQ(receive_command(0).slba, 0U);
    EXPECT_EQ(receive_command(1).slba, 16U);
    EXPECT_EQ(receive_command(0).slba, 32U);
    EXPECT_EQ(receive_command(1).slba, 48U);
}

TEST_F(IoPathQueues, ThatAreFullArePassedOver) {
    open({.queues = 2, .queue_size = 3});
    for (std::uint32_t i = 0; i < 4; ++i) {
        submit(i, Operation::flush, 0, 0);
    }
    path_->flush();
    receive_command(0);
    receive_command(0);
    const auto cid = receive_command(1).cid;
    receive_command(1);
    submit(4, Operation::flush, 0, 0);
    path_->flush();
    EXPECT_TRUE(nothing_arrives(0));
    EXPECT_TRUE(nothing_arrives(1));
    controllers_[1]->send(response(cid));
    receive_command(1);
    EXPECT_EQ(path_->outstanding(), 4U);
}

class IoPathParked : public IoPathTest {
protected:
    void answer(std::uint16_t cid, Status status = {}) { controllers_[0]->send(response(cid, status)); }
};

TEST_F(IoPathParked, RequestsAreIssuedInTheirOrder) {
    open({.queue_size = 3});
    for (std::uint32_t i = 0; i < 8; ++i) {
        submit(i, Operation::trim, i * 512ULL, 512);
    }
    path_->flush();
    EXPECT_EQ(path_->outstanding(), 8U);
    for (std::uint64_t i = 0; i < 8; ++i) {
        const Pdu pdu = receive_pdu();
        DsmRange range;
        std::memcpy(&range, pdu.payload().data(), sizeof range);
        EXPECT_EQ(range.slba, i);
        answer(pdu.as<CapsuleCmd>().sqe.cid);
    }
    ASSERT_TRUE(run_until_completed(8));
    EXPECT_EQ(completed_, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(times_completed_[i], 1);
        EXPECT_EQ(requests_[i].waited > 0, i >= 2) << "request " << i;
        EXPECT_LE(requests_[i].waited, requests_[i].completed_at - requests_[i].dispatched_at);
    }
}

TEST_F(IoPathParked, RequestLargerThanTheQueueGoesThroughIt) {
    open({.queue_size = 3});
    Bytes buffer = pattern(20 * 8192);
    submit(0, Operation::write, 0, static_cast<std::uint32_t>(buffer.size()), buffer.data());
    submit(1, Operation::flush, 0, 0);
    path_->flush();
    Bytes received;
    for (int i = 0; i < 20; ++i) {
        const Pdu pdu = receive_pdu();
        received = received + pdu.payload();
        answer(pdu.as<CapsuleCmd>().sqe.cid);
    }
    EXPECT_TRUE(received == buffer);
    const Pdu flush = receive_pdu();
    EXPECT_EQ(flush.as<CapsuleCmd>().sqe.opcode, io_opcode::kFlush) << "the next one does not overtake";
    answer(flush.as<CapsuleCmd>().sqe.cid);
    ASSERT_TRUE(run_until_completed(2));
    EXPECT_EQ(requests_[0].waited, 0U) << "its first command found room";
}

TEST_F(IoPathParked, FailureInTheMiddleOfARequestKeepsTheRestOfItBack) {
    open({.queue_size = 3});
    submit(0, Operation::read, 0, 10 * 8192);
    submit(1, Operation::flush, 0, 0);
    path_->flush();
    const auto first = receive_command().cid;
    const auto second = receive_command().cid;
    answer(first, Status(StatusCode::ana_transition));
    const RwCommand next = receive_command();
    EXPECT_EQ(next.opcode, io_opcode::kFlush) << "eight commands of the failed request are never sent";
    settle();
    EXPECT_TRUE(completed_.empty()) << "its second command may still write into the buffer";
    answer(second, Status(StatusCode::internal_error));
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(completed_[0], 0U);
    EXPECT_EQ(requests_[0].error_class, ErrorClass::ana_transition) << "the first failure counts";
    EXPECT_EQ(requests_[0].protocol_status, 0x303);
    answer(next.cid);
    ASSERT_TRUE(run_until_completed(2));
    EXPECT_EQ(requests_[1].error_class, ErrorClass::none);
    EXPECT_EQ(times_completed_[0], 1);
}

TEST_F(IoPathParked, FailureOfItsLastOpenCommandEndsAParkedRequest) {
    open({.queue_size = 2});
    submit(0, Operation::read, 0, 10 * 8192);
    path_->flush();
    answer(receive_command().cid, Status(StatusCode::internal_error));
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, ErrorClass::io_error);
    EXPECT_TRUE(nothing_arrives());
    EXPECT_EQ(path_->outstanding(), 0U);
}

TEST_F(IoPathData, ThatIsMissingFailsTheRequestAsATransportError) {
    open();
    Bytes buffer(512);
    submit(0, Operation::read, 0, 512, buffer.data());
    path_->flush();
    controllers_[0]->send(response(receive_command().cid));
    ASSERT_TRUE(run_until_completed(1));
    EXPECT_EQ(requests_[0].error_class, ErrorClass::transport_error);
}

TEST_F(IoPathData, IsCountedOnTheWireAndByTheWayItCame) {
    open({.max_transfer = 0});
    Bytes small(512);
    Bytes large(64 * 1024);
    submit(0, Operation::read, 0, 512, small.data());
    path_->flush();
    controllers_[0]->send(c2h_data(receive_command().cid, 0, pattern(512), 0xc));
    ASSERT_TRUE(run_until_completed(1));
    submit(1, Operation::read, 0, 64 * 1024, large.data());
    path_->flush();
    controllers_[0]->send(c2h_data(receive_command().cid, 0, pattern(64 * 1024), 0xc));
    ASSERT_TRUE(run_until_completed(2));
    const PathTraffic traffic = path_->traffic();
    EXPECT_EQ(traffic.commands, 2U);
    EXPECT_EQ(traffic.pdus_sent, 2U);
    EXPECT_EQ(traffic.pdus_received, 2U);
    EXPECT_EQ(traffic.wire_bytes_sent, 2 * sizeof(CapsuleCmd));
    EXPECT_EQ(traffic.wire_bytes_received, 2 * sizeof(C2hData) + 512 + 64 * 1024);
    EXPECT_EQ(traffic.payload_direct + traffic.payload_copied, 512U + 64 * 1024U);
}

TEST_F(IoPathData, ThatCameDamagedFailsItsRequestAndIsCountedWhileThePathLives) {
    constexpr PduOptions kDigests{.data_digest = true};
    open({.queues = 2, .pdu = kDigests});
    Bytes buffer(512);
    for (std::uint32_t i = 0; i < 2; ++i) { // one on each queue
        submit(i, Operation::read, 0, 512, buffer.data());
        path_->flush();
        Bytes pdu = sealed(c2h_data(receive_command(i).cid, 0, pattern(512), 0xc), kDigests);
        pdu.back() ^= std::byte{1};
        controllers_[i]->send(pdu);
        ASSERT_TRUE(run_until_completed(i + 1));
        EXPECT_EQ(requests_[i].error_class, ErrorClass::transport_error);
    }
    EXPECT_TRUE(path_->live());
    EXPECT_EQ(path_->traffic().data_digest_errors, 2U);
    EXPECT_EQ(path_->traffic().header_digest_errors, 0U);
    EXPECT_EQ(path_->traffic().protocol_violations, 0U);
}

TEST_F(IoPathData, CountsWhatEndedThePath) {
    open({.queues = 2, .pdu = {.header_digest = true}});
    Bytes pdu = sealed(bytes_of(response(0)), {.header_digest = true});
    pdu[20] ^= std::byte{1};
    controllers_[0]->send(pdu);
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    ASSERT_EQ(losses_.size(), 1U);
    EXPECT_NE(losses_[0].text.find("header digest is wrong"), std::string::npos) << losses_[0].text;
    EXPECT_EQ(path_->traffic().header_digest_errors, 1U);
    EXPECT_EQ(path_->traffic().protocol_violations, 0U);
}

} // namespace
} // namespace mpath::nvme::test
