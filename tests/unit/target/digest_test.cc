// SPDX-License-Identifier: GPL-2.0-only
// Header and data digests, both ways, right and wrong.
#include <gtest/gtest.h>

#include "peer.h"

namespace mpath::target {
namespace {

using nvme::PduType;
using nvme::StatusCode;
namespace io_opcode = nvme::io_opcode;

constexpr Wish kBoth{.header_digest = true, .data_digest = true};

void write_by_r2t(Peer& io, const Bytes& data, std::uint32_t step) {
    io.capsule(blocks_command(io_opcode::kWrite, 1, 0, static_cast<std::uint32_t>(data.size() / 512)));
    const auto r2t = io.receive();
    ASSERT_TRUE(r2t);
    ASSERT_EQ(r2t->type(), PduType::r2t);
    io.answer_r2t(r2t->as<nvme::R2t>(), data, step);
}

TEST(TargetDigest, EveryPduHasThoseAskedFor) {
    for (const bool header : {false, true}) {
        for (const bool data : {false, true}) {
            Bench bench;
            Association host(bench, 0, {.header_digest = header, .data_digest = data});
            const Bytes written = pattern(16384);
            write_by_r2t(host.io, written, 4096);
            const auto done = host.io.receive();
            ASSERT_TRUE(done);
            EXPECT_EQ(done->header_digest_is_right(), header);
            EXPECT_EQ(status_of(done->as<nvme::CapsuleResp>().cqe), StatusCode::success);

            host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 32));
            const auto read = host.io.receive();
            ASSERT_TRUE(read);
            EXPECT_EQ(read->header_digest_is_right(), header);
            EXPECT_EQ(read->data_digest_is_right(), data);
            EXPECT_EQ(read->data(), written);
        }
    }
}

TEST(TargetDigest, HoldsForCapsulesAndAlignedData) {
    Options options = Bench::small();
    options.cpda = 31;
    Bench bench(options);
    Association host(bench, 0, {.hpda = 31, .header_digest = true, .data_digest = true});
    const Bytes written = pattern(4096);
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 8), written);
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    write_by_r2t(host.io, written, 1000);
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 8));
    const auto read = host.io.receive();
    EXPECT_EQ(read->as<nvme::CommonHeader>().pdo, 128);
    EXPECT_TRUE(read->data_digest_is_right());
    EXPECT_EQ(read->data(), written);
    EXPECT_EQ(bench.listener.counters.data_digest_errors, 0U);
}

TEST(TargetDigest, MayComeByteByByte) {
    for (const bool null : {false, true}) {
        Options options = Bench::small();
        options.null = null;
        Bench bench(options);
        Association host(bench, 0, kBoth);
        const Bytes data = pattern(512);
        const Bytes bytes =
            host.io.sealed(bytes_of(capsule_pdu(blocks_command(io_opcode::kWrite, 3, 5, 1), 512)), data);
        for (const std::byte byte : bytes) {
            host.io.send({&byte, 1});
        }
        EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    }
}

TEST(TargetDigest, AWrongOneOfAHeaderEndsTheConnection) {
    Bench bench;
    Association host(bench, 0, kBoth);
    Bytes bytes = host.io.sealed(bytes_of(capsule_pdu(blocks_command(io_opcode::kRead, 3, 5, 1))), {});
    bytes[40] ^= std::byte{1};
    host.io.send(bytes);
    const auto answer = host.io.receive();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->type(), PduType::c2h_term_req);
    EXPECT_EQ(answer->as<nvme::TermReq>().fes,
              static_cast<std::uint16_t>(nvme::FatalStatus::header_digest_error));
    EXPECT_EQ(answer->bytes.size(), sizeof(nvme::TermReq) + sizeof(nvme::CapsuleCmd));
    EXPECT_TRUE(host.io.ended());
    EXPECT_EQ(bench.listener.counters.header_digest_errors, 1U);
    EXPECT_EQ(bench.listener.counters.violations, 1U);
}

TEST(TargetDigest, AWrongOneOfDataFailsItsCommandOnly) {
    for (const bool null : {false, true}) {
        Options options = Bench::small();
        options.null = null;
        Bench bench(options);
        Association host(bench, 0, kBoth);
        const Bytes data = pattern(8192);

        Bytes capsule =
            host.io.sealed(bytes_of(capsule_pdu(blocks_command(io_opcode::kWrite, 3, 0, 16), 8192)), data);
        capsule.back() ^= std::byte{1};
        host.io.send(capsule);
        const auto status = nvme::Status::from_cqe(host.io.completion().status);
        EXPECT_EQ(status.code(), StatusCode::transient_transport_error);
        EXPECT_FALSE(status.dnr());

        // The first of two PDUs: the second one does not make it good.
        host.io.capsule(blocks_command(io_opcode::kWrite, 4, 0, 16));
        const auto r2t = host.io.receive()->as<nvme::R2t>();
        Bytes first = host.io.sealed(bytes_of(data_pdu(r2t, 0, 4096)), std::span(data).first(4096));
        first[100] ^= std::byte{1};
        host.io.send(first);
        host.io.send(host.io.sealed(bytes_of(data_pdu(r2t, 4096, 4096)), std::span(data).last(4096)));
        EXPECT_EQ(status_of(host.io.completion()), StatusCode::transient_transport_error);

        EXPECT_EQ(bench.listener.counters.data_digest_errors, 2U);
        write_by_r2t(host.io, data, 8192);
        EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    }
}

TEST(TargetFlip, OneBitOfTheHeaderOfThePduNamed) {
    Bench bench;
    bench.listener.options.flips.header = 3;
    Association host(bench, 0, kBoth);
    for (int pdu = 1; pdu <= 4; ++pdu) {
        host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
        EXPECT_EQ(host.io.receive()->header_digest_is_right(), pdu != 3) << pdu;
    }
}

TEST(TargetFlip, OneBitOfTheDataOfTheDataPduNamed) {
    Options options = Bench::small();
    options.c2h_size = 512;
    Bench bench(options);
    bench.listener.options.flips.data = 2;
    for (const bool digest : {false, true}) {
        Association host(bench, 0, {.data_digest = digest});
        host.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 3));
        for (int pdu = 1; pdu <= 3; ++pdu) {
            const auto read = host.io.receive();
            EXPECT_EQ(read->data() == Bytes(512), pdu != 2) << pdu;
            EXPECT_EQ(read->data_digest_is_right(), digest && pdu != 2) << pdu;
        }
        host.io.completion();
    }
}

TEST(TargetFlip, ReadsAsWhatAndNumber) {
    Flips flips;
    EXPECT_TRUE(parse_flip("header:3", flips));
    EXPECT_TRUE(parse_flip("data:70000", flips));
    EXPECT_EQ(flips.header, 3U);
    EXPECT_EQ(flips.data, 70000U);
    for (const char* text : {"", "header", "header:", "header:0", "data:x", "data:1x", "pad:1"}) {
        EXPECT_FALSE(parse_flip(text, flips)) << text;
    }
}

} // namespace
} // namespace mpath::target
