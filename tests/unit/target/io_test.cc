// SPDX-License-Identifier: GPL-2.0-only
// Blocks written and read back, over every way the transport has for it.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "peer.h"

namespace mpath::target {
namespace {

using nvme::PduType;
using nvme::StatusCode;
namespace io_opcode = nvme::io_opcode;

void write_in_capsule(Peer& io, std::uint64_t slba, const Bytes& data) {
    io.capsule(blocks_command(io_opcode::kWrite, 1, slba, static_cast<std::uint32_t>(data.size() / 512)),
               data);
    ASSERT_EQ(status_of(io.completion()), StatusCode::success);
}

/// Reads, holding the target to order and to its own flags.
Bytes read_back(Peer& io, std::uint64_t slba, std::uint32_t blocks, std::size_t* pdus = nullptr) {
    io.capsule(blocks_command(io_opcode::kRead, 2, slba, blocks));
    Bytes all;
    for (;;) {
        const auto pdu = io.receive();
        EXPECT_TRUE(pdu) << "the answer ends early";
        if (!pdu || pdu->type() != PduType::c2h_data) {
            EXPECT_TRUE(!pdu || status_of(pdu->as<nvme::CapsuleResp>().cqe) == StatusCode::success);
            return all;
        }
        const auto header = pdu->as<nvme::C2hData>();
        const Bytes data = pdu->data();
        EXPECT_EQ(header.cccid, 2);
        EXPECT_EQ(header.datao, all.size());
        EXPECT_EQ(header.datal, data.size());
        all.insert(all.end(), data.begin(), data.end());
        EXPECT_EQ((pdu->flags() & nvme::pdu_flag::kLastPdu) != 0, all.size() == blocks * 512U);
        if (pdus != nullptr) {
            ++*pdus;
        }
        if ((pdu->flags() & nvme::pdu_flag::kSuccess) != 0) {
            return all;
        }
    }
}

TEST(TargetIo, WhatWasWrittenInTheCapsuleIsReadBack) {
    Bench bench;
    Association host(bench);
    const Bytes data = pattern(4096);
    write_in_capsule(host.io, 8, data);
    EXPECT_EQ(read_back(host.io, 8, 8), data);
    EXPECT_EQ(read_back(host.io, 0, 8), Bytes(4096));
    EXPECT_EQ(bench.listener.counters.writes, 1U);
    EXPECT_EQ(bench.listener.counters.write_bytes, 4096U);
    EXPECT_EQ(bench.listener.counters.reads, 2U);
    EXPECT_EQ(bench.listener.counters.read_bytes, 8192U);
}

TEST(TargetIo, ALongWriteIsAskedForWithAnR2t) {
    Bench bench;
    Association host(bench);
    const Bytes data = pattern(1 << 20);
    for (const std::uint32_t step : {1U << 20, 65536U, 4096U, 1000U}) {
        host.io.capsule(blocks_command(io_opcode::kWrite, 7, 16, 2048));
        const auto r2t = host.io.receive();
        ASSERT_TRUE(r2t);
        ASSERT_EQ(r2t->type(), PduType::r2t);
        const auto header = r2t->as<nvme::R2t>();
        EXPECT_EQ(header.cccid, 7);
        EXPECT_EQ(header.r2to, 0U);
        EXPECT_EQ(header.r2tl, data.size());
        host.io.answer_r2t(header, data, step);
        EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
        EXPECT_EQ(read_back(host.io, 16, 2048), data) << step;
    }
}

TEST(TargetIo, R2tsComeOneAfterTheOther) {
    Options options = Bench::small();
    options.r2t_size = 16384;
    Bench bench(options);
    Association host(bench);
    const Bytes data = pattern(40960);
    host.io.capsule(blocks_command(io_opcode::kWrite, 7, 0, 80));
    for (const std::uint32_t expected : {0U, 16384U, 32768U}) {
        const auto r2t = host.io.receive();
        ASSERT_TRUE(r2t);
        EXPECT_EQ(r2t->as<nvme::R2t>().r2to, expected);
        EXPECT_FALSE(host.io.receive());
        host.io.answer_r2t(r2t->as<nvme::R2t>(), data, 8192);
    }
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    EXPECT_EQ(read_back(host.io, 0, 80), data);
}

TEST(TargetIo, CommandsInterleaveWhileDataIsAskedFor) {
    Bench bench;
    Association host(bench);
    const Bytes first = pattern(16384, 1);
    const Bytes second = pattern(16384, 2);
    host.io.capsule(blocks_command(io_opcode::kWrite, 10, 0, 32));
    host.io.capsule(blocks_command(io_opcode::kWrite, 11, 32, 32));
    const auto r2t_first = host.io.receive()->as<nvme::R2t>();
    const auto r2t_second = host.io.receive()->as<nvme::R2t>();
    EXPECT_NE(r2t_first.ttag, r2t_second.ttag);
    host.io.answer_r2t(r2t_second, second, 4096);
    EXPECT_EQ(host.io.completion().cid, 11);
    host.io.answer_r2t(r2t_first, first, 4096);
    EXPECT_EQ(host.io.completion().cid, 10);
    EXPECT_EQ(read_back(host.io, 0, 32), first);
    EXPECT_EQ(read_back(host.io, 32, 32), second);
}

TEST(TargetIo, ManyCommandsInOneSegmentAreAllAnswered) {
    Bench bench;
    Association host(bench);
    Bytes burst;
    for (std::uint16_t cid = 0; cid < 31; ++cid) {
        nvme::CapsuleCmd pdu;
        pdu.common.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
        pdu.common.hlen = sizeof(pdu);
        pdu.common.plen = sizeof(pdu);
        pdu.sqe = blocks_command(io_opcode::kRead, cid, cid, 1);
        const Bytes bytes = bytes_of(pdu);
        burst.insert(burst.end(), bytes.begin(), bytes.end());
    }
    host.io.send(burst);
    for (std::uint16_t cid = 0; cid < 31; ++cid) {
        EXPECT_EQ(host.io.receive()->as<nvme::C2hData>().cccid, cid);
        EXPECT_EQ(host.io.completion().cid, cid);
    }
}

TEST(TargetIo, EveryByteMayComeAlone) {
    Bench bench;
    Association host(bench);
    nvme::CapsuleCmd pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.pdo = sizeof(pdu);
    pdu.common.plen = sizeof(pdu) + 512;
    pdu.sqe = blocks_command(io_opcode::kWrite, 3, 5, 1);
    pdu.sqe.sgl.identifier = nvme::kSglInCapsule;
    Bytes bytes = bytes_of(pdu);
    const Bytes data = pattern(512);
    bytes.insert(bytes.end(), data.begin(), data.end());
    for (const std::byte byte : bytes) {
        host.io.send({&byte, 1});
    }
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    EXPECT_EQ(read_back(host.io, 5, 1), data);
}

TEST(TargetIo, ReadDataIsSplitAsConfigured) {
    Options options = Bench::small();
    options.c2h_size = 4096;
    Bench bench(options);
    Association host(bench);
    const Bytes data = pattern(8192);
    write_in_capsule(host.io, 0, data);
    std::size_t pdus = 0;
    EXPECT_EQ(read_back(host.io, 0, 16, &pdus), data);
    EXPECT_EQ(pdus, 2U);
    pdus = 0;
    read_back(host.io, 0, 17, &pdus);
    EXPECT_EQ(pdus, 3U);
}

TEST(TargetIo, TheSuccessFlagStandsForTheCompletionOnlyWithoutFlowControl) {
    for (const bool allowed : {false, true}) {
        for (const bool wanted : {false, true}) {
            Options options = Bench::small();
            options.success_flag = wanted;
            Bench bench(options);
            Association host(bench, allowed ? nvme::kCattrDisableSqFlowControl : 0);
            host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 1));
            const auto data = host.io.receive();
            const bool flagged = (data->flags() & nvme::pdu_flag::kSuccess) != 0;
            EXPECT_EQ(flagged, allowed && wanted);
            EXPECT_EQ(host.io.receive().has_value(), !flagged);
        }
    }
}

TEST(TargetIo, DataStartsWhereTheHostAskedFor) {
    Bench bench;
    Association host(bench, 0, {.hpda = 31}); // multiples of 128 bytes
    const Bytes data = pattern(512);
    write_in_capsule(host.io, 0, data);
    host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 1));
    const auto pdu = host.io.receive();
    EXPECT_EQ(pdu->as<nvme::CommonHeader>().pdo, 128);
    EXPECT_EQ(pdu->data(), data);
}

TEST(TargetIo, FlowControlIsAcknowledgedAndTheHeadMoves) {
    Bench bench;
    Association host(bench);
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_EQ(host.io.completion().sqhd, 2); // Connect was the first entry
    Peer without(bench);
    without.ic_req();
    EXPECT_EQ(without.connect(2, host.cntlid, 31, nvme::kCattrDisableSqFlowControl).sqhd, 0xffff);
}

TEST(TargetIo, DeallocatedAndZeroedBlocksReadAsZeroes) {
    Bench bench;
    Association host(bench);
    const Bytes data = pattern(8192);
    write_in_capsule(host.io, 0, data);

    nvme::Sqe deallocate = admin_command(io_opcode::kDatasetManagement, 4);
    deallocate.nsid = 1;
    deallocate.cdw10 = 1; // two ranges
    deallocate.cdw11 = nvme::kDsmDeallocate;
    nvme::DsmRange ranges[2];
    ranges[0].slba = 0;
    ranges[0].blocks = 2;
    ranges[1].slba = 6;
    ranges[1].blocks = 1;
    host.io.capsule(deallocate, bytes_of(ranges));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    host.io.capsule(blocks_command(io_opcode::kWriteZeroes, 5, 10, 4));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);

    Bytes expected = data;
    for (const auto& [first, count] : {std::pair{0, 2}, std::pair{6, 1}, std::pair{10, 4}}) {
        std::fill_n(expected.begin() + first * 512, count * 512, std::byte{0});
    }
    EXPECT_EQ(read_back(host.io, 0, 16), expected);
}

TEST(TargetIo, RangesMayBeAskedForWithAnR2tToo) {
    Bench bench;
    Association host(bench);
    write_in_capsule(host.io, 0, pattern(512));
    nvme::Sqe deallocate = admin_command(io_opcode::kDatasetManagement, 4);
    deallocate.nsid = 1;
    deallocate.cdw11 = nvme::kDsmDeallocate;
    deallocate.sgl.length = sizeof(nvme::DsmRange);
    host.io.capsule(deallocate);
    nvme::DsmRange range;
    range.blocks = 1;
    host.io.answer_r2t(host.io.receive()->as<nvme::R2t>(), bytes_of(range), 16);
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    EXPECT_EQ(read_back(host.io, 0, 1), Bytes(512));
}

TEST(TargetIo, RefusesWhatItCannotDo) {
    struct {
        const char* what;
        nvme::Sqe (*command)();
        StatusCode status;
    } const table[] = {
        {"behind the end", [] { return blocks_command(io_opcode::kRead, 1, 8192, 1); },
         StatusCode::lba_out_of_range},
        {"across the end", [] { return blocks_command(io_opcode::kRead, 1, 8191, 2); },
         StatusCode::lba_out_of_range},
        {"far behind", [] { return blocks_command(io_opcode::kRead, 1, ~0ULL, 1); },
         StatusCode::lba_out_of_range},
        {"above MDTS", [] { return blocks_command(io_opcode::kRead, 1, 0, 2049); },
         StatusCode::invalid_field},
        {"other length",
         [] {
             auto sqe = blocks_command(io_opcode::kRead, 1, 0, 2);
             sqe.sgl.length = 512;
             return sqe;
         },
         StatusCode::data_sgl_length_invalid},
        {"other SGL",
         [] {
             auto sqe = blocks_command(io_opcode::kWrite, 1, 0, 1);
             sqe.sgl.identifier = 0x40;
             return sqe;
         },
         StatusCode::sgl_type_invalid},
        {"PRPs",
         [] {
             auto sqe = blocks_command(io_opcode::kRead, 1, 0, 1);
             sqe.flags = 0;
             return sqe;
         },
         StatusCode::invalid_field},
        {"no such namespace",
         [] {
             auto sqe = blocks_command(io_opcode::kRead, 1, 0, 1);
             sqe.nsid = 2;
             return sqe;
         },
         StatusCode::invalid_namespace},
        {"no such command", [] { return blocks_command(0x7e, 1, 0, 1); }, StatusCode::invalid_opcode},
    };
    Bench bench;
    Association host(bench);
    for (const auto& row : table) {
        host.io.capsule(row.command());
        EXPECT_EQ(status_of(host.io.completion()), row.status) << row.what;
    }
    EXPECT_EQ(bench.listener.counters.refused, std::size(table));
    EXPECT_EQ(read_back(host.io, 0, 1), Bytes(512)) << "the queue goes on after each of them";
}

TEST(TargetIo, AnUnusableGroupRefusesReadsAndWrites) {
    const std::pair<nvme::AnaState, StatusCode> table[] = {
        {nvme::AnaState::inaccessible, StatusCode::ana_inaccessible},
        {nvme::AnaState::persistent_loss, StatusCode::ana_persistent_loss},
        {nvme::AnaState::change, StatusCode::ana_transition},
    };
    for (const auto& [state, status] : table) {
        Bench bench;
        bench.listener.options.ana = state;
        Association host(bench);
        host.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 1));
        const auto read = nvme::Status::from_cqe(host.io.completion().status);
        EXPECT_EQ(read.code(), status);
        EXPECT_FALSE(read.dnr());
        host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 1), pattern(512));
        EXPECT_EQ(status_of(host.io.completion()), status);
        host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 2048));
        EXPECT_EQ(status_of(host.io.completion()), status) << "without asking for the data";
    }
}

TEST(TargetIo, DelaysOverlap) {
    Bench bench;
    bench.listener.options.delay = 200 * kMicrosecond;
    Association host(bench);
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 1), pattern(512));
    bench.now += 100 * kMicrosecond;
    host.io.capsule(blocks_command(io_opcode::kRead, 2, 8, 1));
    EXPECT_FALSE(host.io.receive());
    bench.now += 100 * kMicrosecond;
    EXPECT_EQ(host.io.completion().cid, 1);
    EXPECT_FALSE(host.io.receive());
    EXPECT_EQ(host.io.connection().next_due(), bench.now + 100 * kMicrosecond);
    bench.now += 100 * kMicrosecond;
    EXPECT_EQ(host.io.receive()->as<nvme::C2hData>().cccid, 2);
    EXPECT_EQ(host.io.completion().cid, 2);
}

TEST(TargetIo, ANullNamespaceTakesEverythingAndKeepsNothing) {
    Options options = Bench::small();
    options.null = true;
    Bench bench(options);
    Association host(bench);
    const Bytes data = pattern(1 << 20);
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 2048));
    host.io.answer_r2t(host.io.receive()->as<nvme::R2t>(), data, 1 << 17);
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    const Bytes got = read_back(host.io, 0, 2048);
    EXPECT_EQ(got.size(), data.size());
    EXPECT_NE(got, data);
    EXPECT_NE(got, Bytes(data.size()));
}

TEST(TargetIo, ANamespaceWithMetadataRefusesIo) {
    Options options = Bench::small();
    options.metadata = 8;
    options.protection = 1;
    Bench bench(options);
    Association host(bench);
    host.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 1));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::invalid_field);
}

TEST(TargetIo, ADuplicateCommandIdIsRefused) {
    Bench bench;
    Association host(bench);
    host.io.capsule(blocks_command(io_opcode::kWrite, 9, 0, 2048));
    EXPECT_EQ(host.io.receive()->type(), PduType::r2t);
    host.io.capsule(blocks_command(io_opcode::kRead, 9, 0, 1));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::cid_conflict);
}

} // namespace
} // namespace mpath::target
