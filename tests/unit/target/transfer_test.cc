// SPDX-License-Identifier: GPL-2.0-only
// Into which PDUs a transfer is cut: R2Ts, C2HData, alignment, segments.
#include <gtest/gtest.h>

#include "peer.h"

namespace mpath::target {
namespace {

using nvme::PduType;
using nvme::StatusCode;
namespace io_opcode = nvme::io_opcode;

std::vector<nvme::R2t> r2ts_there(Peer& io) {
    std::vector<nvme::R2t> there;
    while (const auto pdu = io.receive()) {
        EXPECT_EQ(pdu->type(), PduType::r2t);
        there.push_back(pdu->as<nvme::R2t>());
    }
    return there;
}

TEST(TargetTransfer, AsManyR2tsAtATimeAsBothSidesAllow) {
    struct {
        std::uint32_t ours, hosts;
        std::size_t expected;
    } const table[] = {{1, 8, 1}, {8, 1, 1}, {2, 8, 2}, {8, 3, 3}};
    for (const auto& row : table) {
        Options options = Bench::small();
        options.r2t_size = 4096;
        options.max_r2t = row.ours;
        Bench bench(options);
        Association host(bench, 0, {.max_r2t = row.hosts});
        host.io.capsule(blocks_command(io_opcode::kWrite, 7, 0, 80));
        const auto r2ts = r2ts_there(host.io);
        ASSERT_EQ(r2ts.size(), row.expected);
        for (std::size_t i = 0; i < r2ts.size(); ++i) {
            EXPECT_EQ(r2ts[i].r2to, i * 4096);
            EXPECT_EQ(r2ts[i].r2tl, 4096U);
        }
    }
}

TEST(TargetTransfer, R2tsOfOneCommandMayBeAnsweredInAnyOrder) {
    Options options = Bench::small();
    options.r2t_size = 4096;
    options.max_r2t = 3;
    Bench bench(options);
    Association host(bench, 0, {.max_r2t = 3});
    const Bytes data = pattern(12288);
    host.io.capsule(blocks_command(io_opcode::kWrite, 7, 0, 24));
    auto r2ts = r2ts_there(host.io);
    ASSERT_EQ(r2ts.size(), 3U);
    EXPECT_NE(r2ts[0].ttag, r2ts[1].ttag);
    for (const int next : {2, 0, 1}) {
        host.io.answer_r2t(r2ts[static_cast<std::size_t>(next)], data, 1000);
    }
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    host.io.capsule(blocks_command(io_opcode::kRead, 8, 0, 24));
    EXPECT_EQ(host.io.receive()->data(), data);
}

TEST(TargetTransfer, RandomR2tsCoverTheTransferInMultiplesOfFour) {
    Options options = Bench::small();
    options.r2t_size = kRandomSize;
    Bench bench(options);
    Association host(bench);
    const Bytes data = pattern(1 << 20);
    for (int round = 0; round < 20; ++round) {
        host.io.capsule(blocks_command(io_opcode::kWrite, 7, 0, 2048));
        for (std::uint32_t at = 0; at < data.size();) {
            const auto pdu = host.io.receive();
            ASSERT_TRUE(pdu);
            ASSERT_EQ(pdu->type(), PduType::r2t);
            const auto r2t = pdu->as<nvme::R2t>();
            ASSERT_EQ(r2t.r2to, at);
            ASSERT_EQ(r2t.r2tl % 4, 0U);
            at += r2t.r2tl;
            host.io.answer_r2t(r2t, data, 1 << 20);
        }
        EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    }
}

TEST(TargetTransfer, C2hDataMayBeCutAnywhere) {
    for (const std::uint32_t size : {1U, 333U, 511U, 5000U, kRandomSize}) {
        Options options = Bench::small();
        options.c2h_size = size;
        Bench bench(options);
        Association host(bench, nvme::kCattrDisableSqFlowControl);
        const Bytes data = pattern(4096);
        host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 8), data);
        host.io.completion();
        host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 8));
        Bytes all;
        bool last = false;
        while (!last) {
            const auto pdu = host.io.receive();
            ASSERT_TRUE(pdu);
            EXPECT_EQ(pdu->as<nvme::C2hData>().datao, all.size());
            last = (pdu->flags() & nvme::pdu_flag::kLastPdu) != 0;
            EXPECT_EQ((pdu->flags() & nvme::pdu_flag::kSuccess) != 0, last);
            const Bytes piece = pdu->data();
            EXPECT_TRUE(last || size == kRandomSize || piece.size() == size);
            all.insert(all.end(), piece.begin(), piece.end());
        }
        EXPECT_EQ(all, data) << size;
    }
}

TEST(TargetTransfer, PaddingIsNotZero) {
    Bench bench;
    Association host(bench, 0, {.hpda = 31});
    host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 1));
    const auto pdu = host.io.receive();
    for (std::size_t at = sizeof(nvme::C2hData); at < 128; ++at) {
        EXPECT_NE(pdu->bytes[at], std::byte{0});
    }
}

TEST(TargetTransfer, WithoutCapsuleRoomEveryWriteIsAskedFor) {
    Options options = Bench::small();
    options.in_capsule = 0;
    Bench bench(options);
    Association host(bench);
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 1));
    host.io.answer_r2t(host.io.receive()->as<nvme::R2t>(), pattern(512), 512);
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
}

TEST(TargetTransfer, ASegmentIsNoLongerThanAllowed) {
    Options options = Bench::small();
    options.segment = 1;
    Bench bench(options);
    Peer peer(bench);
    nvme::IcReq request;
    request.common.hlen = sizeof(request);
    request.common.plen = sizeof(request);
    peer.send(bytes_of(request));
    EXPECT_EQ(peer.receive_bytes().size(), 2U); // one when it was made, one when the socket took more
    EXPECT_TRUE(peer.connection().wants_write());
}

} // namespace
} // namespace mpath::target
