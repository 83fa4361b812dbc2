// SPDX-License-Identifier: GPL-2.0-only
// A PDU by itself: what check_pdu() says of it, and that it says the same however much of it has come.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/nvme_queue/scripted_controller.h"

namespace mpath::nvme::test {
namespace {

constexpr PduOptions kPlain{};
constexpr PduOptions kAligned{.hpda = 15}; // 64 bytes
constexpr PduOptions kAlignedBoth{.header_digest = true, .data_digest = true, .hpda = 15};

struct Row {
    const char* name;
    PduOptions agreed;
    Bytes pdu;
    std::uint32_t head;   ///< 0: a fault
    const char* sentence; ///< of the fault
    FatalStatus fes = FatalStatus::invalid_header_field;
    std::uint32_t fei = 0;
};

Bytes data(std::uint8_t pdo = 24, std::uint8_t flags = 0) {
    return c2h_data(1, 0, pattern(16), flags, pdo);
}

/// Sealed, and then one byte of the header is something else, under a digest that is right.
Bytes resealed(Bytes pdu, const PduOptions& agreed, std::size_t at, unsigned value) {
    pdu = sealed(pdu, agreed);
    pdu[at] = static_cast<std::byte>(value);
    store_digest(std::span(pdu).first(24), pdu.data() + 24);
    return pdu;
}

const std::vector<Row> kRows = {
    {"Data", kPlain, data(), 24, nullptr},
    {"DataWithHeaderDigest", kDigestHeader, sealed(data(), kDigestHeader), 28, nullptr},
    {"DataWithDataDigest", kDigestData, sealed(data(), kDigestData), 24, nullptr},
    {"DataWithBoth", kDigestBoth, sealed(data(), kDigestBoth), 28, nullptr},
    {"DataPadded", kPlain, data(128), 128, nullptr},
    {"DataPaddedBehindADigest", kDigestBoth, sealed(data(128), kDigestBoth), 128, nullptr},
    {"DataAligned", kAligned, data(64), 64, nullptr},
    {"DataAlignedToTheSecondUnit", kAligned, data(128), 128, nullptr},
    {"DataAlignedWithBoth", kAlignedBoth, sealed(data(64), kAlignedBoth), 64, nullptr},
    {"Response", kDigestData, bytes_of(response(1)), 24, nullptr},
    {"ResponseWithDigest", kDigestBoth, sealed(bytes_of(response(1)), kDigestBoth), 28, nullptr},
    {"R2t", kPlain, bytes_of(r2t(1, 2, 3, 4)), 24, nullptr},
    {"R2tWithDigest", kDigestBoth, sealed(bytes_of(r2t(1, 2, 3, 4)), kDigestBoth), 28, nullptr},

    {"DataNotAligned", kAligned, data(32), 0, "not aligned as HPDA asked", FatalStatus::invalid_header_field,
     3},
    {"DataInsideTheHeaderDigest", kDigestBoth, resealed(data(32), kDigestBoth, 3, 24), 0,
     "data offset is impossible", FatalStatus::invalid_header_field, 3},
    {"HeaderDigestMissing", kDigestBoth, sealed(data(), kDigestData), 0, "without the header digest",
     FatalStatus::invalid_header_field, 1},
    {"HeaderDigestMissingOnAResponse", kDigestHeader, bytes_of(response(1)), 0, "without the header digest",
     FatalStatus::invalid_header_field, 1},
    {"DataDigestMissing", kDigestBoth, sealed(data(), kDigestHeader), 0, "without the data digest",
     FatalStatus::invalid_header_field, 1},
    {"HeaderDigestNotAgreed", kDigestData, sealed(data(), kDigestBoth), 0, "not agreed on",
     FatalStatus::invalid_header_field, 1},
    {"DataDigestNotAgreed", kDigestHeader, sealed(data(), kDigestBoth), 0, "not agreed on",
     FatalStatus::invalid_header_field, 1},
    {"DataDigestOnAResponse", kDigestData, resealed(bytes_of(response(1)), kDigestHeader, 1, 2), 0,
     "not agreed on", FatalStatus::invalid_header_field, 1},
    {"HlenUnderARightDigest", kDigestBoth, resealed(data(), kDigestBoth, 2, 28), 0, "wrong header length",
     FatalStatus::invalid_header_field, 2},
    {"PlenWithoutTheDataDigest", kDigestBoth, resealed(data(), kDigestBoth, 4, 28 + 16), 0,
     "impossible length", FatalStatus::invalid_header_field, 4},
    {"PlenWithoutTheHeaderDigest", kDigestBoth, resealed(bytes_of(response(1)), kDigestBoth, 4, 24), 0,
     "impossible length", FatalStatus::invalid_header_field, 4},
    {"TermReqTooLong", kDigestBoth,
     bytes_of(CommonHeader{static_cast<std::uint8_t>(PduType::c2h_term_req), 0, 24, 0, std::uint32_t{153}}) +
         Bytes(16),
     0, "impossible length", FatalStatus::invalid_header_field, 4},
    {"TermReqWithADigest", kDigestBoth,
     bytes_of(CommonHeader{static_cast<std::uint8_t>(PduType::c2h_term_req), 1, 24, 0, std::uint32_t{28}}) +
         Bytes(20),
     0, "not agreed on", FatalStatus::invalid_header_field, 1},
};

class PduCheck : public testing::TestWithParam<Row> {};

TEST_P(PduCheck, JudgesIt) {
    const Row& row = GetParam();
    const PduVerdict verdict = check_pdu(row.pdu, row.agreed);
    EXPECT_EQ(verdict.head, row.head);
    ASSERT_EQ(verdict.fault == nullptr, row.sentence == nullptr)
        << (verdict.fault == nullptr ? "accepted" : verdict.fault->name);
    if (row.sentence != nullptr) {
        EXPECT_NE(std::string(verdict.fault->name).find(row.sentence), std::string::npos)
            << verdict.fault->name;
        EXPECT_EQ(verdict.fault->fes, row.fes);
        EXPECT_EQ(verdict.fault->fei, row.fei);
    }
}

TEST_P(PduCheck, TakesAllThatTheShortWaysTake) {
    const Row& row = GetParam();
    if (row.agreed == PduOptions{} && (is_plain_data(row.pdu) || is_plain_response(row.pdu))) {
        EXPECT_EQ(row.sentence, nullptr);
        EXPECT_EQ(row.head, sizeof(C2hData));
    }
}

TEST(PduCheckShortWay, IsThereForWhatComesMost) {
    const CapsuleResp plain = response(0);
    EXPECT_TRUE(is_plain_response(std::as_bytes(std::span(&plain, 1))));
    EXPECT_TRUE(is_plain_data(c2h_data(0, 0, Bytes(512), pdu_flag::kLastPdu | pdu_flag::kSuccess)));
    EXPECT_FALSE(is_plain_data(c2h_data(0, 0, Bytes(512), pdu_flag::kSuccess)));
    EXPECT_FALSE(is_plain_data(slice(c2h_data(0, 0, Bytes(512), pdu_flag::kLastPdu), 0, 23)));
}

TEST_P(PduCheck, IsUndecidedUntilItSaysTheSame) {
    const Row& row = GetParam();
    const PduVerdict whole = check_pdu(row.pdu, row.agreed);
    bool decided = false;
    for (std::size_t length = 0; length <= row.pdu.size(); ++length) {
        const Bytes begin = slice(row.pdu, 0, length); // on its own, so that asan sees a read beyond it
        const PduVerdict verdict = check_pdu(begin, row.agreed);
        if (verdict.fault == nullptr && verdict.head == 0) {
            EXPECT_FALSE(decided) << length;
            continue;
        }
        decided = true;
        EXPECT_EQ(verdict.fault, whole.fault) << length;
        EXPECT_EQ(verdict.head, whole.head) << length;
    }
    EXPECT_TRUE(decided);
}

INSTANTIATE_TEST_SUITE_P(Rows, PduCheck, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST(PduCheckPadding, MayBeAnything) {
    Bytes pdu = data(64);
    std::fill(pdu.begin() + 24, pdu.begin() + 64, std::byte{0xff});
    EXPECT_EQ(check_pdu(pdu, kAligned).head, 64U);
}

} // namespace
} // namespace mpath::nvme::test
