// SPDX-License-Identifier: GPL-2.0-only
// What a controller must not do: one row each. The queue names it, tells the controller why in an H2CTermReq
// (TCP Transport Specification, "Fatal Error Status"), and ends with every open command lost.
#include <algorithm>
#include <functional>
#include <iterator>

#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

/// The commands that are open when the violation arrives.
struct OpenCommands {
    std::uint16_t read = 0;  ///< of 4096 bytes
    std::uint16_t write = 0; ///< of 4096 bytes, nothing of it sent
    std::uint16_t flush = 0;
};

struct Violation {
    const char* name;
    std::function<Bytes(const OpenCommands&)> before; ///< legal PDUs right before it
    std::function<Bytes(const OpenCommands&)> offender;
    const char* sentence;
    std::uint16_t fes;
    std::uint32_t fei;
};

Bytes nothing(const OpenCommands&) {
    return {};
}

/// A header that is right but for what `change` does to it.
template <typename T>
Bytes changed(T pdu, const std::function<void(CommonHeader&)>& change) {
    change(pdu.common);
    return bytes_of(pdu);
}

Bytes header_of_type(unsigned type) {
    CommonHeader common{static_cast<std::uint8_t>(type), 0, 24, 0, std::uint32_t{24}};
    return bytes_of(common) + Bytes(16);
}

const std::vector<Violation> kViolations = {
    // PDU types
    {"Type08", nothing, [](const auto&) { return header_of_type(0x08); }, "unknown type", 1, 0},
    {"Type0a", nothing, [](const auto&) { return header_of_type(0x0a); }, "unknown type", 1, 0},
    {"TypeFf", nothing, [](const auto&) { return header_of_type(0xff); }, "unknown type", 1, 0},
    {"IcReq", nothing, [](const auto&) { return header_of_type(0x00); }, "only a host sends", 2, 0},
    {"IcResp", nothing, [](const auto&) { return header_of_type(0x01); }, "only connecting allows", 2, 0},
    {"H2cTermReq", nothing, [](const auto&) { return header_of_type(0x02); }, "only a host sends", 2, 0},
    {"CapsuleCmd", nothing, [](const auto&) { return header_of_type(0x04); }, "only a host sends", 2, 0},
    {"H2cData", nothing, [](const auto&) { return header_of_type(0x06); }, "only a host sends", 2, 0},

    // header length
    {"C2hDataHlen", nothing,
     [](const auto& open) {
         return changed(c2h_header(open.read, 0, 512, 0), [](auto& common) { common.hlen = 28; });
     },
     "wrong header length", 1, 2},
    {"ResponseHlen", nothing,
     [](const auto& open) { return changed(response(open.flush), [](auto& common) { common.hlen = 8; }); },
     "wrong header length", 1, 2},
    {"R2tHlen", nothing,
     [](const auto& open) {
         return changed(r2t(open.write, 0, 0, 512), [](auto& common) { common.hlen = 0; });
     },
     "wrong header length", 1, 2},

    // PDU length
    {"C2hDataPlenZero", nothing,
     [](const auto& open) {
         return changed(c2h_header(open.read, 0, 512, 0), [](auto& common) { common.plen = 0; });
     },
     "impossible length", 1, 4},
    {"C2hDataPlenHuge", nothing,
     [](const auto& open) {
         return changed(c2h_header(open.read, 0, 512, 0), [](auto& common) { common.plen = 0xffffffff; });
     },
     "impossible length", 1, 4},
    {"C2hDataLengthsThatWrapAround", nothing,
     [](const auto& open) {
         return changed(c2h_header(open.read, 0, 0xffffffff, 0), [](auto& common) { common.plen = 23; });
     },
     "impossible length", 1, 4},
    {"ResponsePlen", nothing,
     [](const auto& open) { return changed(response(open.flush), [](auto& common) { common.plen = 28; }); },
     "impossible length", 1, 4},
    {"R2tPlen", nothing,
     [](const auto& open) {
         return changed(r2t(open.write, 0, 0, 512), [](auto& common) { common.plen = 20; });
     },
     "impossible length", 1, 4},

    // data offset
    {"PdoInsideTheHeader", nothing,
     [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 512, 0, 20)); }, "data offset", 1, 3},
    {"PdoNotAligned", nothing,
     [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 512, 0, 26)); }, "data offset", 1, 3},
    {"PdoTooFar", nothing, [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 512, 0, 132)); },
     "data offset", 1, 3},

    // flags
    {"HeaderDigest", nothing,
     [](const auto& open) { return changed(response(open.flush), [](auto& common) { common.flags = 1; }); },
     "digest", 1, 1},
    {"DataDigest", nothing, [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 512, 2)); },
     "digest", 1, 1},
    {"SuccessWithoutLast", nothing,
     [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 512, pdu_flag::kSuccess)); },
     "SUCCESS but without LAST_PDU", 1, 1},

    // C2HData
    {"DataUnknownCid", nothing,
     [](const auto& open) { return bytes_of(c2h_header(open.read ^ 0x8000U, 0, 512, 0)); },
     "C2HData for a command that is not outstanding", 1, 8},
    {"DataCidBeyondTheQueue", nothing, [](const auto&) { return bytes_of(c2h_header(0xffff, 0, 512, 0)); },
     "C2HData for a command that is not outstanding", 1, 8},
    {"DataForAWrite", nothing, [](const auto& open) { return bytes_of(c2h_header(open.write, 0, 512, 0)); },
     "reads nothing", 1, 8},
    {"DataForAFlush", nothing, [](const auto& open) { return bytes_of(c2h_header(open.flush, 0, 512, 0)); },
     "reads nothing", 1, 8},
    {"DataWithAGap", nothing, [](const auto& open) { return bytes_of(c2h_header(open.read, 512, 512, 0)); },
     "C2HData out of order", 1, 12},
    {"DataTwice", [](const auto& open) { return c2h_data(open.read, 0, pattern(512), 0); },
     [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 512, 0)); }, "C2HData out of order", 1,
     12},
    {"DataOverlapping", [](const auto& open) { return c2h_data(open.read, 0, pattern(512), 0); },
     [](const auto& open) { return bytes_of(c2h_header(open.read, 256, 512, 0)); }, "C2HData out of order", 1,
     12},
    {"DataLongerThanTheBuffer", nothing,
     [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 4097, 0)); }, "beyond the end", 4, 0},
    {"DataAcrossTheEnd", [](const auto& open) { return c2h_data(open.read, 0, pattern(4095), 0); },
     [](const auto& open) { return bytes_of(c2h_header(open.read, 4095, 2, 0)); }, "beyond the end", 4, 0},
    {"DataBehindTheEnd", [](const auto& open) { return c2h_data(open.read, 0, pattern(4096), 0); },
     [](const auto& open) { return bytes_of(c2h_header(open.read, 4096, 1, 0)); }, "beyond the end", 4, 0},
    {"DataEmpty", nothing, [](const auto& open) { return bytes_of(c2h_header(open.read, 0, 0, 0)); },
     "C2HData without data", 1, 16},
    {"DataAfterLast",
     [](const auto& open) { return c2h_data(open.read, 0, pattern(512), pdu_flag::kLastPdu); },
     [](const auto& open) { return bytes_of(c2h_header(open.read, 512, 512, 0)); }, "C2HData after LAST_PDU",
     2, 0},

    // CapsuleResp
    {"AnswerUnknownCid", nothing, [](const auto& open) { return bytes_of(response(open.read ^ 0x8000U)); },
     "completion for a command that is not outstanding", 1, 20},
    {"AnswerCidOfAFreeSlot", nothing, [](const auto&) { return bytes_of(response(20)); },
     "completion for a command that is not outstanding", 1, 20},

    // R2T
    {"R2tUnknownCid", nothing,
     [](const auto& open) { return bytes_of(r2t(open.write ^ 0x8000U, 0, 0, 512)); },
     "R2T for a command that is not outstanding", 1, 8},
    {"R2tForARead", nothing, [](const auto& open) { return bytes_of(r2t(open.read, 0, 0, 512)); },
     "writes nothing", 1, 8},
    {"R2tForAFlush", nothing, [](const auto& open) { return bytes_of(r2t(open.flush, 0, 0, 512)); },
     "writes nothing", 1, 8},
    {"R2tEmpty", nothing, [](const auto& open) { return bytes_of(r2t(open.write, 0, 0, 0)); },
     "asks for nothing", 1, 16},
    {"R2tWithAGap", nothing, [](const auto& open) { return bytes_of(r2t(open.write, 0, 512, 512)); },
     "R2T out of order", 1, 12},
    {"R2tBeyondTheEnd", nothing, [](const auto& open) { return bytes_of(r2t(open.write, 0, 0, 4097)); },
     "R2T beyond the end", 4, 0},
    {"R2tLengthThatWrapsAround", nothing,
     [](const auto& open) { return bytes_of(r2t(open.write, 0, 0, 0xffffffff)); }, "R2T beyond the end", 4,
     0},
    {"R2tBeforeTheLastOneWasServed", [](const auto& open) { return bytes_of(r2t(open.write, 1, 0, 512)); },
     [](const auto& open) { return bytes_of(r2t(open.write, 2, 512, 512)); }, "more R2Ts outstanding", 5, 0},
};

class QueueViolation : public QueueTest, public testing::WithParamInterface<Violation> {
protected:
    void open_with_commands() {
        open({.in_capsule = 0});
        commands_.read = start_read(read_buffer_, &read_buffer_);
        commands_.write = start_write(write_buffer_, &write_buffer_);
        commands_.flush = start(Transfer::none, nullptr, 0, this);
    }

    std::optional<Pdu> receive_term_req() {
        std::optional<Pdu> pdu;
        run_until([&] {
            pdu = controller_->next();
            return pdu && pdu->type() == PduType::h2c_term_req;
        });
        return pdu;
    }

    OpenCommands commands_;
    Bytes read_buffer_ = Bytes(4096);
    Bytes write_buffer_ = pattern(4096);
};

TEST_P(QueueViolation, IsNamedToldToTheControllerAndEndsEveryCommandAsLost) {
    const Violation& row = GetParam();
    open_with_commands();
    const Bytes offender = row.offender(commands_);
    controller_->send(row.before(commands_) + offender);

    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_EQ(closed_->code, EPROTO);
    EXPECT_NE(closed_->text.find(row.sentence), std::string::npos) << closed_->text;

    const auto pdu = receive_term_req();
    ASSERT_TRUE(pdu);
    const auto request = pdu->as<TermReq>();
    EXPECT_EQ(request.common.hlen, 24);
    EXPECT_EQ(request.fes, row.fes);
    EXPECT_EQ(request.fei, row.fei);
    const std::size_t header =
        std::min<std::size_t>(offender.size(), std::to_integer<std::uint8_t>(offender[2]));
    EXPECT_EQ(slice(pdu->bytes, sizeof(TermReq), pdu->bytes.size() - sizeof(TermReq)),
              slice(offender, 0, header))
        << "the offending header, as far as it says it goes";

    EXPECT_EQ(queue_->statistics().protocol_violations, 1U);
    EXPECT_EQ(queue_->statistics().header_digest_errors, 0U);
    EXPECT_EQ(times_closed_, 1);
    ASSERT_EQ(done_.size(), 3U);
    std::vector<void*> owners;
    for (const Completion& completion : done_) {
        EXPECT_TRUE(completion.lost);
        owners.push_back(completion.owner);
    }
    std::sort(owners.begin(), owners.end());
    std::vector<void*> expected = {&read_buffer_, &write_buffer_, this};
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(owners, expected);
    EXPECT_EQ(queue_->outstanding(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Rows, QueueViolation, testing::ValuesIn(kViolations),
                         [](const auto& row) { return row.param.name; });

class QueueViolationInPieces : public QueueViolation {};

TEST_P(QueueViolationInPieces, IsFoundByteForByteToo) {
    const Violation& row = GetParam();
    open_with_commands();
    for (const std::byte byte : row.before(commands_) + row.offender(commands_)) {
        controller_->send(Bytes{byte});
        reactor_->run(0);
    }
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find(row.sentence), std::string::npos) << closed_->text;
    EXPECT_EQ(done_.size(), 3U);
}

/// Alone in its segment an R2T is served before the next one comes, and nothing is wrong with that.
std::vector<Violation> all_but_too_many_r2ts() {
    std::vector<Violation> rows;
    std::copy_if(kViolations.begin(), kViolations.end(), std::back_inserter(rows),
                 [](const Violation& row) { return row.fes != 5; });
    return rows;
}

INSTANTIATE_TEST_SUITE_P(Rows, QueueViolationInPieces, testing::ValuesIn(all_but_too_many_r2ts()),
                         [](const auto& row) { return row.param.name; });

TEST_F(QueueViolation, ByAnR2tForInCapsuleDataIsBeyondTheEnd) {
    open({.in_capsule = 4096});
    const auto cid = start_write(write_buffer_);
    controller_->send(r2t(cid, 1, 4096, 512));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("R2T beyond the end"), std::string::npos) << closed_->text;
}

TEST_F(QueueViolation, OfTheOrderByTheControllerIsNotAnsweredInTheMiddleOfABatch) {
    open({.in_capsule = 0, .max_h2c_data = 4096}, 16 * 1024);
    Bytes large = pattern(1024 * 1024);
    const auto cid = start_write(large);
    controller_->end().set_reading(false);
    controller_->send(r2t(cid, 1, 0, static_cast<std::uint32_t>(large.size())));
    settle();
    controller_->send(header_of_type(0x08));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    controller_->end().set_reading(true);
    while (const auto pdu = controller_->next()) {
        EXPECT_EQ(pdu->type(), PduType::h2c_data);
        EXPECT_EQ(pdu->payload(), slice(large, pdu->as<H2cData>().datao, pdu->payload().size()));
    }
}

TEST_F(QueueViolation, IsAnsweredAndThenResetWhileAWritesDataMayStillArrive) {
    open({.in_capsule = 4096});
    start_write(write_buffer_);
    controller_->send(header_of_type(0x08));
    const auto pdu = receive_term_req();
    ASSERT_TRUE(pdu);
    EXPECT_EQ(pdu->as<TermReq>().fes, 1);
    EXPECT_TRUE(run_until([this] { return controller_->end().ended(); }));
    EXPECT_EQ(controller_->end().error(), ECONNRESET);
}

TEST_F(QueueViolation, IsAnsweredInOrderWhenNoWriteCanBeHurt) {
    open({.in_capsule = 0});
    start_read(read_buffer_);
    start_write(write_buffer_);
    controller_->send(header_of_type(0x08));
    ASSERT_TRUE(receive_term_req());
    EXPECT_TRUE(run_until([this] { return controller_->end().ended(); }));
    EXPECT_EQ(controller_->end().error(), 0);
}

TEST_F(QueueViolation, OfATypeNeedsNoMoreThanTheCommonHeader) {
    open();
    controller_->send(slice(header_of_type(0x08), 0, sizeof(CommonHeader)));
    EXPECT_TRUE(run_until([this] { return closed_.has_value(); }));
}

// The controller ends the connection itself, and says why.

struct TermReqRow {
    std::uint16_t fes;
    const char* sentence;
};

class QueueTermReq : public QueueTest, public testing::WithParamInterface<TermReqRow> {};

TEST_P(QueueTermReq, OfTheControllerEndsTheQueueWithItsReason) {
    open();
    Bytes buffer(4096);
    start_read(buffer);
    TermReq request;
    request.common = {static_cast<std::uint8_t>(PduType::c2h_term_req), 0, 24, 0, std::uint32_t{24 + 128}};
    request.fes = GetParam().fes;
    request.fei = 0x01020304;
    controller_->send(bytes_of(request) + Bytes(128));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_EQ(closed_->code, EPROTO);
    EXPECT_NE(closed_->text.find(GetParam().sentence), std::string::npos) << closed_->text;
    EXPECT_NE(closed_->text.find("FEI 16909060"), std::string::npos) << closed_->text;
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].lost);
}

INSTANTIATE_TEST_SUITE_P(Rows, QueueTermReq,
                         testing::Values(TermReqRow{1, "invalid header field (FES 1"},
                                         TermReqRow{2, "PDU sequence error (FES 2"},
                                         TermReqRow{3, "header digest error (FES 3"},
                                         TermReqRow{4, "data transfer out of range (FES 4"},
                                         TermReqRow{5, "data transfer limit exceeded (FES 5"},
                                         TermReqRow{6, "unsupported parameter (FES 6"},
                                         TermReqRow{7, "unknown reason (FES 7"}));

} // namespace
} // namespace mpath::nvme::test
