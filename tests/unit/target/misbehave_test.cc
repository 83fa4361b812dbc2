// SPDX-License-Identifier: GPL-2.0-only
// Each thing the target can be told to do wrong.
#include <functional>

#include <gtest/gtest.h>

#include "peer.h"
#include "target/misdeed.h"

namespace mpath::target {
namespace {

using nvme::PduType;
using nvme::StatusCode;
namespace pdu_flag = nvme::pdu_flag;
namespace io_opcode = nvme::io_opcode;

/// One I/O connection of a target that was told what to do wrong.
struct Broken : Bench {
    explicit Broken(std::string_view told, const Wish& wish = {}, std::uint8_t cattr = 0)
        : host((listener.options.breach = parse_break(told).value(), *this), cattr, wish) {}

    /// A read of 1 KiB.
    void read(std::uint16_t cid = 2) { host.io.capsule(blocks_command(io_opcode::kRead, cid, 0, 2)); }
    /// A write of 16 KiB that has to be asked for.
    void write(std::uint16_t cid = 1) { host.io.capsule(blocks_command(io_opcode::kWrite, cid, 0, 32)); }
    nvme::R2t r2t() {
        const auto pdu = host.io.receive();
        EXPECT_TRUE(pdu && pdu->type() == PduType::r2t);
        return pdu ? pdu->as<nvme::R2t>() : nvme::R2t{};
    }
    nvme::C2hData data() {
        const auto pdu = host.io.receive();
        EXPECT_TRUE(pdu && pdu->type() == PduType::c2h_data);
        return pdu ? pdu->as<nvme::C2hData>() : nvme::C2hData{};
    }
    /// All that came, as bytes.
    nvme::CommonHeader next_header() {
        const Bytes bytes = host.io.receive_bytes();
        nvme::CommonHeader header;
        EXPECT_GE(bytes.size(), sizeof(header));
        std::memcpy(&header, bytes.data(), sizeof(header));
        return header;
    }

    Association host;
};

TEST(TargetMisdeed, HappensToTheCommandCounted) {
    Broken target("unknown-cid:3");
    for (std::uint16_t cid = 1; cid <= 4; ++cid) {
        target.host.io.capsule(blocks_command(io_opcode::kFlush, cid, 0, 1));
        if (cid == 3) {
            EXPECT_EQ(target.host.io.completion().cid, static_cast<std::uint16_t>(~cid));
        }
        EXPECT_EQ(target.host.io.completion().cid, cid);
    }
}

TEST(TargetMisdeed, HappensOnEveryIoConnectionAndNotOnAdminOnes) {
    Broken target("term-req");
    EXPECT_TRUE(target.host.admin.connection().wants_read());
    target.host.admin.set_cc(kEnableController); // answered as ever
    target.read();
    EXPECT_EQ(target.host.io.receive()->type(), PduType::c2h_term_req);
    Peer second(target);
    second.ic_req();
    second.connect(2, target.host.cntlid);
    second.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_EQ(second.receive()->type(), PduType::c2h_term_req);
}

TEST(TargetMisdeed, R2tForNothing) {
    Broken target("r2t-empty");
    target.write();
    EXPECT_EQ(target.r2t().r2tl, 0U);
    EXPECT_EQ(target.r2t().r2tl, 16384U);
}

TEST(TargetMisdeed, R2tBeyondTheCommand) {
    Broken target("r2t-beyond");
    target.write();
    EXPECT_EQ(target.r2t().r2tl, 16384U + 4096);
}

TEST(TargetMisdeed, R2tsThatOverlap) {
    Broken target("r2t-overlap");
    target.write();
    const auto first = target.r2t();
    EXPECT_EQ(first.r2tl, 8192U);
    target.host.io.answer_r2t(first, pattern(16384), 8192);
    EXPECT_EQ(target.r2t().r2to, 8192U - 4);
}

TEST(TargetMisdeed, MoreR2tsThanTheHostAllows) {
    for (const std::uint32_t allowed : {1U, 3U}) {
        Broken target("r2t-too-many", {.max_r2t = allowed});
        target.write();
        std::uint32_t covered = 0;
        for (std::uint32_t i = 0; i < allowed + 1; ++i) {
            const auto r2t = target.r2t();
            EXPECT_EQ(r2t.r2to, covered);
            covered += r2t.r2tl;
        }
        EXPECT_EQ(covered, 16384U);
    }
}

TEST(TargetMisdeed, AnErrorWhileDataIsOnItsWay) {
    Broken target("early-error");
    const Bytes data = pattern(16384);
    target.write();
    const auto r2t = target.r2t();
    auto& io = target.host.io;
    io.send(io.sealed(bytes_of(data_pdu(r2t, 0, 4096)), std::span(data).first(4096)));
    EXPECT_EQ(status_of(io.completion()), StatusCode::internal_error);
    // The command is over and its ID free; what had been on its way is swallowed.
    target.write();
    const auto again = target.r2t();
    EXPECT_NE(again.ttag, r2t.ttag);
    io.send(io.sealed(bytes_of(data_pdu(r2t, 4096, 12288)), std::span(data).last(12288)));
    io.answer_r2t(again, data, 16384);
    EXPECT_EQ(status_of(io.completion()), StatusCode::success);
    EXPECT_FALSE(io.ended());
}

TEST(TargetMisdeed, DataBeyondTheCommand) {
    Broken target("data-beyond");
    target.read();
    EXPECT_EQ(target.data().common.flags, 0);
    const auto beyond = target.data();
    EXPECT_EQ(beyond.datao, 1024U);
    EXPECT_EQ(beyond.datal, 512U);
}

TEST(TargetMisdeed, DataOutOfOrder) {
    Broken target("data-out-of-order");
    target.read();
    EXPECT_EQ(target.data().datao, 512U);
    EXPECT_EQ(target.data().datao, 0U);
    EXPECT_EQ(target.host.io.completion().cid, 2);
}

TEST(TargetMisdeed, DataOfNoLength) {
    Broken target("data-empty");
    target.read();
    const auto empty = target.data();
    EXPECT_EQ(empty.datal, 0U);
    EXPECT_EQ(empty.common.plen, 24U);
    EXPECT_EQ(target.data().datal, 1024U);
}

TEST(TargetMisdeed, SuccessBeforeTheLast) {
    Broken target("success-not-last", {}, nvme::kCattrDisableSqFlowControl);
    target.read();
    EXPECT_EQ(target.data().common.flags, pdu_flag::kSuccess);
    EXPECT_EQ(target.data().common.flags, pdu_flag::kSuccess | pdu_flag::kLastPdu);
}

TEST(TargetMisdeed, SuccessWithHalfOfTheData) {
    Broken target("short-success", {}, nvme::kCattrDisableSqFlowControl);
    target.read();
    const auto half = target.data();
    EXPECT_EQ(half.datal, 512U);
    EXPECT_EQ(half.common.flags, pdu_flag::kSuccess | pdu_flag::kLastPdu);
    EXPECT_FALSE(target.host.io.receive());
}

TEST(TargetMisdeed, ASecondCompletion) {
    Broken target("stale-cid");
    target.read();
    EXPECT_EQ(target.data().datal, 1024U);
    EXPECT_EQ(target.host.io.completion().cid, 2);
    EXPECT_EQ(target.host.io.completion().cid, 2);
}

TEST(TargetMisdeed, AnUnknownType) {
    Broken target("unknown-type");
    target.read();
    const auto pdu = target.host.io.receive();
    EXPECT_EQ(static_cast<int>(pdu->type()), 8);
    EXPECT_EQ(pdu->bytes.size(), 24U);
    EXPECT_EQ(target.data().datal, 1024U);
}

TEST(TargetMisdeed, ATermReqWithAllTheDataItMayHave) {
    Broken target("term-req");
    target.read();
    EXPECT_EQ(target.host.io.receive()->bytes.size(), 24U + 128);
}

TEST(TargetMisdeed, HeadersThatCannotBe) {
    struct {
        const char* told;
        std::function<bool(const nvme::CommonHeader&)> is_wrong;
    } const table[] = {
        {"plen-0", [](const auto& header) { return header.plen == 0U; }},
        {"plen-huge", [](const auto& header) { return header.plen == 0xfffffffcU; }},
        {"hlen", [](const auto& header) { return header.hlen == 23; }},
        {"pdo-unaligned", [](const auto& header) { return header.pdo == 25 && header.plen == 25U + 512; }},
    };
    for (const auto& row : table) {
        Broken target(row.told);
        target.read();
        EXPECT_TRUE(row.is_wrong(target.next_header())) << row.told;
    }
}

TEST(TargetMisdeed, HasRightDigestsAllTheSame) {
    for (const char* told : {"data-empty", "unknown-cid", "unknown-type", "data-beyond", "pdo-unaligned"}) {
        Broken target(told, {.header_digest = true, .data_digest = true});
        target.read();
        while (const auto pdu = target.host.io.receive()) {
            EXPECT_TRUE(pdu->header_digest_is_right()) << told;
            EXPECT_TRUE(pdu->type() != PduType::c2h_data || pdu->data_digest_is_right()) << told;
        }
    }
}

TEST(TargetMisdeed, ReadsAsNameAndNumber) {
    EXPECT_EQ(parse_break("hlen")->what, Misdeed::hlen);
    EXPECT_EQ(parse_break("hlen")->at, 1U);
    EXPECT_EQ(parse_break("r2t-empty:100")->at, 100U);
    for (const char* text : {"", "hlen:", "hlen:0", "hlen:1x", "none", ":1", "HLEN"}) {
        EXPECT_FALSE(parse_break(text)) << text;
    }
    const auto listener = parse_listener("127.0.0.1:0,break=plen-0:2,flip=data:3");
    ASSERT_TRUE(listener);
    EXPECT_EQ(listener->breach.what, Misdeed::plen_0);
    EXPECT_EQ(listener->flips.data, 3U);
    EXPECT_NE(describe_misdeeds().find("r2t-too-many"), std::string::npos);
}

} // namespace
} // namespace mpath::target
