// SPDX-License-Identifier: GPL-2.0-only
// What a host must not do, and what becomes of the connection it did it on.
#include <random>

#include <gtest/gtest.h>

#include "peer.h"

namespace mpath::target {
namespace {

using nvme::FatalStatus;
using nvme::PduType;

/// The next PDU is a C2HTermReq with this fault, and then the target closes.
void expect_term_req(Peer& peer, const Fault& fault) {
    const auto pdu = peer.receive();
    ASSERT_TRUE(pdu);
    ASSERT_EQ(pdu->type(), PduType::c2h_term_req);
    const auto header = pdu->as<nvme::TermReq>();
    EXPECT_EQ(header.fes, static_cast<std::uint16_t>(fault.status));
    EXPECT_EQ(header.fei, fault.information);
    EXPECT_TRUE(peer.ended());
}

TEST(TargetViolation, CommandsBeforeIcReq) {
    Bench bench;
    Peer peer(bench);
    peer.capsule(admin_command(nvme::admin_opcode::kIdentify, 1));
    expect_term_req(peer, {FatalStatus::sequence_error, 0});
    EXPECT_EQ(bench.listener.counters.violations, 1U);
}

TEST(TargetViolation, ASecondIcReq) {
    Bench bench;
    Peer peer(bench);
    peer.ic_req();
    nvme::IcReq again;
    again.common.hlen = sizeof(again);
    again.common.plen = sizeof(again);
    peer.send(bytes_of(again));
    expect_term_req(peer, {FatalStatus::sequence_error, 0});
}

TEST(TargetViolation, APeerThatIsNotNvme) {
    Bench bench;
    Peer peer(bench);
    const std::string text = "GET / HTTP/1.1\r\n\r\n";
    peer.send(std::as_bytes(std::span(text)));
    expect_term_req(peer, {FatalStatus::invalid_header_field, 0});
}

TEST(TargetViolation, TheOffendingHeaderIsSentBack) {
    Bench bench;
    Peer peer(bench);
    peer.ic_req();
    nvme::CapsuleCmd pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.plen = 71;
    peer.send(bytes_of(pdu));
    const auto answer = peer.receive();
    ASSERT_TRUE(answer);
    const Bytes sent_back(answer->bytes.begin() + sizeof(nvme::TermReq), answer->bytes.end());
    EXPECT_EQ(sent_back, bytes_of(pdu));
}

TEST(TargetViolation, CapsuleDataThatTheSglDoesNotName) {
    Bench bench;
    Association host(bench);
    nvme::CapsuleCmd pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.pdo = sizeof(pdu);
    pdu.common.plen = sizeof(pdu) + 512;
    pdu.sqe = blocks_command(nvme::io_opcode::kWrite, 1, 0, 1); // its SGL says: not in the capsule
    host.io.send(bytes_of(pdu));
    expect_term_req(host.io, {FatalStatus::invalid_header_field, 4});
}

TEST(TargetViolation, MoreCapsuleDataThanThereIsRoomFor) {
    Options options = Bench::small();
    options.in_capsule = 0;
    Bench bench(options);
    Association host(bench);
    host.io.capsule(blocks_command(nvme::io_opcode::kWrite, 1, 0, 1), pattern(512));
    expect_term_req(host.io, {FatalStatus::invalid_header_field, 4});
}

TEST(TargetViolation, MoreCommandsThanTheQueueHasEntries) {
    Bench bench;
    Association host(bench);
    for (std::uint16_t cid = 0; cid < 33; ++cid) {
        host.io.capsule(blocks_command(nvme::io_opcode::kWrite, cid, 0, 2048));
    }
    for (int i = 0; i < 32; ++i) {
        ASSERT_EQ(host.io.receive()->type(), PduType::r2t);
    }
    expect_term_req(host.io, {FatalStatus::sequence_error, 0});
}

struct DataFault {
    const char* what;
    void (*change)(nvme::H2cData&);
    Fault fault;
};

class TargetDataViolation : public testing::TestWithParam<DataFault> {};

TEST_P(TargetDataViolation, EndsTheConnection) {
    Bench bench;
    Association host(bench);
    host.io.capsule(blocks_command(nvme::io_opcode::kWrite, 7, 0, 64));
    const auto r2t = host.io.receive()->as<nvme::R2t>();
    nvme::H2cData pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::h2c_data);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.pdo = sizeof(pdu);
    pdu.common.plen = sizeof(pdu) + 4096;
    pdu.cccid = 7;
    pdu.ttag = r2t.ttag;
    pdu.datal = 4096;
    GetParam().change(pdu);
    Bytes bytes = bytes_of(pdu);
    bytes.resize(pdu.common.plen);
    host.io.send(bytes);
    expect_term_req(host.io, GetParam().fault);
}

INSTANTIATE_TEST_SUITE_P(
    All, TargetDataViolation,
    testing::Values(
        DataFault{"UnknownTag", [](auto& p) { p.ttag = 5000; }, {FatalStatus::invalid_header_field, 10}},
        DataFault{"IdleTag",
                  [](auto& p) { p.ttag = static_cast<std::uint16_t>(p.ttag ^ 1); },
                  {FatalStatus::invalid_header_field, 10}},
        DataFault{"OtherCommand", [](auto& p) { p.cccid = 8; }, {FatalStatus::invalid_header_field, 8}},
        DataFault{"OtherLength", [](auto& p) { p.datal = 4092; }, {FatalStatus::invalid_header_field, 16}},
        DataFault{"GapBefore", [](auto& p) { p.datao = 4096; }, {FatalStatus::data_out_of_range, 0}},
        DataFault{"MoreThanAskedFor",
                  [](auto& p) {
                      p.datal = 36864;
                      p.common.plen = 24 + 36864;
                  },
                  {FatalStatus::data_out_of_range, 0}},
        DataFault{"LastTooEarly",
                  [](auto& p) { p.common.flags = nvme::pdu_flag::kLastPdu; },
                  {FatalStatus::invalid_header_field, 1}},
        DataFault{"NoLast",
                  [](auto& p) {
                      p.datal = 32768;
                      p.common.plen = 24 + 32768;
                  },
                  {FatalStatus::invalid_header_field, 1}}),
    [](const auto& instance) { return instance.param.what; });

TEST(TargetViolation, DataNobodyAskedFor) {
    Bench bench;
    Association host(bench);
    nvme::H2cData pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::h2c_data);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.pdo = sizeof(pdu);
    pdu.common.plen = sizeof(pdu) + 4;
    pdu.datal = 4;
    host.io.send(bytes_of(pdu));
    expect_term_req(host.io, {FatalStatus::invalid_header_field, 10});
}

TEST(TargetViolation, AHostsTermReqEndsTheConnectionQuietly) {
    Bench bench;
    Peer peer(bench);
    peer.ic_req();
    nvme::TermReq pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::h2c_term_req);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.plen = sizeof(pdu);
    pdu.fes = 5;
    pdu.fei = 70000;
    peer.send(bytes_of(pdu));
    EXPECT_FALSE(peer.receive());
    EXPECT_TRUE(peer.ended());
    EXPECT_EQ(bench.listener.counters.violations, 0U);
    EXPECT_EQ(bench.listener.counters.host_term_reqs, 1U);
    EXPECT_EQ(bench.listener.counters.host_fes, 5U);
    EXPECT_EQ(bench.listener.counters.host_fei, 70000U);
}

TEST(TargetViolation, ALingeringConnectionClosesInTheEnd) {
    Bench bench;
    Peer peer(bench);
    peer.send(Bytes(200, std::byte{0xff}));
    EXPECT_FALSE(peer.connection().closed());
    bench.now = peer.connection().next_due();
    peer.connection().on_timer(bench.now);
    EXPECT_TRUE(peer.connection().closed());
}

TEST(TargetFault, DemandedTlsAnswersPlaintextWithAnAlert) {
    Options options = Bench::small();
    options.demand_tls = true;
    Bench bench(options);
    Peer peer(bench);
    peer.send(Bytes(128));
    const Bytes alert = peer.receive_bytes();
    ASSERT_EQ(alert.size(), 7U);
    EXPECT_EQ(alert[0], std::byte{21}); // record type: alert
    EXPECT_EQ(alert[5], std::byte{2});  // fatal
    EXPECT_TRUE(peer.ended());
}

TEST(TargetFault, GarbageFollowsIcResp) {
    Options options = Bench::small();
    options.garbage = true;
    Bench bench(options);
    Peer peer(bench);
    peer.ic_req();
    const Bytes garbage = peer.receive_bytes();
    ASSERT_GE(garbage.size(), 8U);
    EXPECT_EQ(garbage[0], std::byte{0xde});
}

TEST(TargetFuzz, BytesOfAnyKindNeverHarmTheTarget) {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        Bench bench;
        Association host(bench);
        host.io.capsule(blocks_command(nvme::io_opcode::kWrite, 7, 0, 64));
        for (int piece = 0; piece < 20 && !host.io.ended(); ++piece) {
            // Mostly right: only a few bytes of a good PDU differ, so that the deeper checks are reached.
            nvme::CapsuleCmd pdu;
            pdu.common.type =
                static_cast<std::uint8_t>(round % 3 == 0 ? PduType::h2c_data : PduType::capsule_cmd);
            pdu.common.hlen = static_cast<std::uint8_t>(round % 3 == 0 ? 24 : 72);
            pdu.common.plen = sizeof(pdu);
            pdu.common.pdo = static_cast<std::uint8_t>(round % 3 == 0 ? 24 : 0);
            pdu.sqe = blocks_command(static_cast<std::uint8_t>(random() % 10),
                                     static_cast<std::uint16_t>(piece), 0, 1);
            Bytes bytes = bytes_of(pdu);
            for (unsigned change = random() % 4; change > 0; --change) {
                bytes[random() % bytes.size()] = static_cast<std::byte>(random());
            }
            (round % 2 == 0 ? host.io : host.admin).send(bytes);
        }
        while (host.io.receive()) {
        }
    }
}

} // namespace
} // namespace mpath::target
