// SPDX-License-Identifier: GPL-2.0-only
// Reads and writes, in all the ways that data can be moved.
#include <gtest/gtest.h>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;
namespace flag = iscsi::command_flag;
namespace residual = iscsi::residual_flag;

const Keys kSolicitedOnly = {{"ImmediateData", "No"}, {"InitialR2T", "Yes"}};
const Keys kUnsolicited = {{"ImmediateData", "Yes"}, {"InitialR2T", "No"}, {"FirstBurstLength", "4096"}};

Bytes read_back(Initiator& initiator, std::uint64_t lba, std::uint32_t blocks) {
    const Ended ended = initiator.run(blocks_cdb(op::kRead16, lba, blocks), blocks * 512);
    EXPECT_TRUE(ended.good()) << ended.sense();
    return ended.data;
}

TEST(TargetIscsiData, IsReadAsItWasWritten) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in(kSolicitedOnly);
    const Bytes data = pattern(8 * 512);
    const Ended written = initiator.write(blocks_cdb(op::kWrite16, 100, 8), data);
    EXPECT_TRUE(written.good());
    EXPECT_EQ(written.flags, iscsi::kFinal);
    ASSERT_EQ(initiator.r2ts.size(), 1U);
    EXPECT_EQ(initiator.r2ts[0].desired_length, 8U * 512);
    const Ended read = initiator.run(blocks_cdb(op::kRead16, 100, 8), 8 * 512);
    EXPECT_EQ(read.data, data);
    EXPECT_TRUE(read.with_data);
    EXPECT_EQ(bench.a.counters.reads, 1U);
    EXPECT_EQ(bench.a.counters.writes, 1U);
    EXPECT_EQ(bench.a.counters.write_bytes, 8U * 512);
}

TEST(TargetIscsiData, IsAddressedByTenBytesAsWell) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    const Bytes data = pattern(2 * 512);
    EXPECT_TRUE(initiator.write(cdb({op::kWrite10, 8, 0, 0, 0, 5, 0, 0, 2}), data).good());
    EXPECT_EQ(bench.a.counters.fua_writes, 1U);
    EXPECT_EQ(initiator.run(cdb({op::kRead10, 0, 0, 0, 0, 5, 0, 0, 2}), 2 * 512).data, data);
}

TEST(TargetIscsiData, ComesWithTheCommand) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in(kUnsolicited);
    const Bytes data = pattern(1024);
    const auto tag = initiator.command(blocks_cdb(op::kWrite16, 0, 2), 1024, flag::kWrite, data);
    EXPECT_TRUE(initiator.end_of(tag).good());
    EXPECT_EQ(read_back(initiator, 0, 2), data);
}

TEST(TargetIscsiData, ComesUnaskedBehindTheCommandAndIsThenAskedFor) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in(kUnsolicited);
    const Bytes data = pattern(16 * 512);
    const std::span<const std::byte> all(data);
    const auto tag =
        initiator.command(blocks_cdb(op::kWrite16, 7, 16), 16 * 512, flag::kWrite, all.first(1000), false);
    initiator.data_out(tag, iscsi::kNoTag, 0, 1000, all.subspan(1000, 2000), false);
    EXPECT_FALSE(initiator.receive()) << "more is to come";
    initiator.data_out(tag, iscsi::kNoTag, 1, 3000, all.subspan(3000, 1096), true);
    EXPECT_TRUE(initiator.end_of(tag, data).good());
    ASSERT_EQ(initiator.r2ts.size(), 1U);
    EXPECT_EQ(initiator.r2ts[0].offset, 4096U);
    EXPECT_EQ(read_back(initiator, 7, 16), data);
}

TEST(TargetIscsiData, IsAskedForInPieces) {
    Options options = Bench::small();
    options.r2t_size = 1500;
    options.max_r2t = 3;
    Bench bench(options);
    Initiator initiator(bench);
    Keys keys = kSolicitedOnly;
    keys.emplace_back("MaxOutstandingR2T", "2");
    initiator.log_in(keys);
    const Bytes data = pattern(16 * 512);
    const auto tag = initiator.command(blocks_cdb(op::kWrite16, 0, 16), 16 * 512, flag::kWrite);
    const auto first = initiator.receive();
    const auto second = initiator.receive();
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(initiator.receive()) << "two at a time";
    // Each has a tag of its own: they may be answered in any order.
    for (const auto& pdu : {*second, *first}) {
        const auto r2t = pdu.as<iscsi::R2t>();
        initiator.data_out(tag, r2t.target_tag, 0, r2t.offset, std::span(data).subspan(r2t.offset, 700),
                           false);
        initiator.data_out(tag, r2t.target_tag, 1, r2t.offset + 700,
                           std::span(data).subspan(r2t.offset + 700, 800), true);
    }
    EXPECT_TRUE(initiator.end_of(tag, data).good());
    EXPECT_EQ(read_back(initiator, 0, 16), data);
}

TEST(TargetIscsiData, IsAskedForInBurstsAtMost) {
    Bench bench;
    Initiator initiator(bench);
    Keys keys = kSolicitedOnly;
    keys.emplace_back("MaxBurstLength", "4096");
    initiator.log_in(keys);
    EXPECT_TRUE(initiator.write(blocks_cdb(op::kWrite16, 0, 20), pattern(20 * 512)).good());
    ASSERT_EQ(initiator.r2ts.size(), 3U);
    EXPECT_EQ(initiator.r2ts[1].desired_length, 4096U);
    EXPECT_EQ(initiator.r2ts[2].desired_length, 2048U);
    EXPECT_EQ(initiator.r2ts[2].r2t_sn, 2U);
}

TEST(TargetIscsiData, IsReadInPiecesThatTheInitiatorTakes) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in({{"MaxRecvDataSegmentLength", "1024"}, {"MaxBurstLength", "1536"}});
    const auto tag = initiator.command(blocks_cdb(op::kRead16, 0, 6), 3072, flag::kRead);
    std::vector<std::pair<std::uint32_t, bool>> pieces;
    for (int i = 0; i < 4; ++i) {
        const auto pdu = initiator.receive();
        ASSERT_TRUE(pdu);
        const auto header = pdu->as<iscsi::DataIn>();
        EXPECT_EQ(header.task_tag, tag);
        EXPECT_EQ(header.data_sn, static_cast<unsigned>(i));
        pieces.emplace_back(header.data_length, (header.flags & iscsi::kFinal) != 0);
    }
    EXPECT_EQ(pieces, (std::vector<std::pair<std::uint32_t, bool>>{
                          {1024, false}, {512, true}, {1024, false}, {512, true}}));
}

TEST(TargetIscsiData, HasItsStatusBehindItIfSoTold) {
    Options options = Bench::small();
    options.success_flag = false;
    options.c2h_size = 512;
    Bench bench(options);
    Initiator initiator(bench);
    initiator.log_in();
    const Ended ended = initiator.run(blocks_cdb(op::kRead16, 0, 3), 1536);
    EXPECT_TRUE(ended.good());
    EXPECT_FALSE(ended.with_data);
    EXPECT_EQ(ended.data_pdus, 3U);
}

TEST(TargetIscsiData, HasDigests) {
    Bench bench;
    Initiator initiator(bench);
    Keys keys = kUnsolicited;
    keys.emplace_back("HeaderDigest", "CRC32C");
    keys.emplace_back("DataDigest", "CRC32C");
    keys.emplace_back("MaxRecvDataSegmentLength", "1001");
    initiator.log_in(keys);
    ASSERT_TRUE(initiator.header_digest && initiator.data_digest);
    const Bytes data = pattern(16 * 512);
    EXPECT_TRUE(initiator.write(blocks_cdb(op::kWrite16, 3, 16), data).good());
    EXPECT_EQ(read_back(initiator, 3, 16), data) << "whose PDUs have odd lengths";
}

TEST(TargetIscsiData, ThatWasDamagedFailsItsCommandAlone) {
    Bench bench;
    Initiator initiator(bench);
    Keys keys = kUnsolicited;
    keys.emplace_back("DataDigest", "CRC32C");
    initiator.log_in(keys);
    iscsi::ScsiCommand request;
    request.flags = iscsi::kFinal | flag::kWrite;
    request.task_tag = 9;
    request.expected_length = 512;
    request.cmd_sn = initiator.cmd_sn++;
    request.cdb = blocks_cdb(op::kWrite16, 0, 1);
    request.data_length = 512;
    Bytes bytes = initiator.sealed(std::bit_cast<iscsi::Bhs>(request), pattern(512));
    bytes[iscsi::kBhsSize + 17] ^= std::byte{1};
    initiator.send(bytes);
    const auto reject = initiator.receive();
    ASSERT_TRUE(reject && reject->opcode() == iscsi::Opcode::reject);
    EXPECT_EQ(reject->as<iscsi::Reject>().reason, iscsi::reject_reason::kDataDigestError);
    EXPECT_EQ(initiator.end_of(9).sense(), "b/47/05");
    EXPECT_EQ(bench.a.counters.data_digest_errors, 1U);
    EXPECT_TRUE(initiator.write(blocks_cdb(op::kWrite16, 0, 1), pattern(512)).good());
}

TEST(TargetIscsiData, ResidualsSayWhatWasNotMoved) {
    struct Row {
        std::uint32_t blocks;
        std::uint32_t expected;
        std::uint8_t flag;
        std::uint32_t bytes;
        std::size_t moved;
    };
    constexpr Row kRows[] = {
        {2, 1024, 0, 0, 1024},
        {2, 4000, residual::kUnderflow, 2976, 1024},
        {2, 300, residual::kOverflow, 724, 300},
        {2, 0, residual::kOverflow, 1024, 0},
        {0, 512, residual::kUnderflow, 512, 0},
    };
    for (const Row& row : kRows) {
        Bench bench;
        Initiator initiator(bench);
        initiator.log_in(kUnsolicited);
        const Ended read = initiator.end_of(
            initiator.command(blocks_cdb(op::kRead16, 0, row.blocks), row.expected, flag::kRead));
        EXPECT_TRUE(read.good());
        EXPECT_EQ(read.data.size(), row.moved);
        EXPECT_EQ(read.flags & (residual::kUnderflow | residual::kOverflow), row.flag);
        EXPECT_EQ(read.residual, row.bytes);
        const Bytes data = pattern(row.expected);
        const Ended written = initiator.end_of(
            initiator.command(blocks_cdb(op::kWrite16, 0, row.blocks), row.expected, flag::kWrite, data));
        EXPECT_TRUE(written.good());
        EXPECT_EQ(written.flags & (residual::kUnderflow | residual::kOverflow), row.flag);
        EXPECT_EQ(written.residual, row.bytes);
        const Bytes there = read_back(initiator, 0, 16);
        EXPECT_TRUE(
            std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(row.moved), there.begin()));
        EXPECT_EQ(there[row.moved], std::byte{0}) << "and no byte more was written";
    }
}

TEST(TargetIscsiData, OfANullNamespaceIsAPattern) {
    Options options = Bench::small();
    options.null = true;
    Bench bench(options);
    Initiator initiator(bench);
    initiator.log_in();
    EXPECT_TRUE(initiator.write(blocks_cdb(op::kWrite16, 0, 1), pattern(512)).good());
    const Bytes data = read_back(initiator, 0, 256);
    EXPECT_NE(data, Bytes(data.size()));
    EXPECT_EQ(data, read_back(initiator, 8, 256));
}

TEST(TargetIscsiData, VariesWithinWhatIsAllowed) {
    Options options = Bench::small();
    options.vary = true;
    options.seed = 7;
    Bench bench(options);
    Initiator initiator(bench);
    initiator.log_in({{"MaxOutstandingR2T", "4"}, {"MaxRecvDataSegmentLength", "4096"}});
    for (unsigned i = 0; i < 20; ++i) {
        const Bytes data = pattern(std::size_t{64} * 512, i);
        const auto written = initiator.command(blocks_cdb(op::kWrite16, i, 64), 64 * 512, flag::kWrite);
        if (const Ended first = initiator.end_of(written, data); !first.good()) {
            bench.wait(kMillisecond); // the answer waits for others
            ASSERT_TRUE(initiator.end_of(written).good());
        }
        const auto tag = initiator.command(blocks_cdb(op::kRead16, i, 64), 64 * 512, flag::kRead);
        bench.wait(kMillisecond);
        const Ended ended = initiator.end_of(tag);
        ASSERT_TRUE(ended.good());
        EXPECT_EQ(ended.data, data);
    }
}

TEST(TargetIscsiData, OfSeveralReadsMayComeInAnyOrder) {
    Options options = Bench::small();
    options.reorder = true;
    Bench bench(options);
    Initiator initiator(bench);
    initiator.log_in({{"MaxRecvDataSegmentLength", "512"}});
    std::vector<std::uint32_t> asked;
    for (unsigned i = 0; i < 8; ++i) {
        asked.push_back(initiator.command(blocks_cdb(op::kRead16, i, 4), 2048, flag::kRead));
    }
    std::vector<std::uint32_t> order;
    while (order.size() < asked.size()) {
        bench.wait(kMillisecond);
        auto pdu = initiator.receive();
        ASSERT_TRUE(pdu);
        if ((pdu->header.flags & iscsi::data_in_flag::kStatus) != 0) {
            order.push_back(pdu->header.task_tag);
        }
    }
    EXPECT_NE(order, asked);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, asked);
}

} // namespace
} // namespace mpath::target::scsi
