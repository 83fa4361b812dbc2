// SPDX-License-Identifier: GPL-2.0-only
// CRC32C digests of headers and data, in both directions.
#include <array>

#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

using pdu_flag::kLastPdu;
using pdu_flag::kSuccess;

struct Agreement {
    const char* name;
    PduOptions pdu;
};
const std::array<Agreement, 3> kAgreements = {Agreement{"Header", kDigestHeader},
                                              Agreement{"Data", kDigestData}, Agreement{"Both", kDigestBoth}};

// ---- what we send

class QueueDigestSent : public QueueTest, public testing::WithParamInterface<Agreement> {
protected:
    [[nodiscard]] unsigned flags(bool with_data) const {
        const PduOptions& pdu = GetParam().pdu;
        return (pdu.header_digest ? 1U : 0U) | (with_data && pdu.data_digest ? 2U : 0U);
    }
    [[nodiscard]] std::uint32_t length(std::uint32_t header, std::uint32_t data) const {
        const PduOptions& pdu = GetParam().pdu;
        return header + (pdu.header_digest ? 4 : 0) + data + (data > 0 && pdu.data_digest ? 4 : 0);
    }
};

TEST_P(QueueDigestSent, OfACommandWithoutDataIsThatOfItsHeader) {
    open({.pdu = GetParam().pdu});
    queue_->submit({}, Transfer::none, nullptr, 0, nullptr);
    queue_->flush();
    const Pdu pdu = receive_pdu();
    const auto common = pdu.as<CommonHeader>();
    EXPECT_EQ(common.flags, flags(false));
    EXPECT_EQ(common.hlen, 72);
    EXPECT_EQ(common.pdo, 0);
    EXPECT_EQ(common.plen, length(72, 0));
    EXPECT_TRUE(pdu.digests_match());
}

TEST_P(QueueDigestSent, OfInCapsuleDataFollowsIt) {
    open({.in_capsule = 4096, .pdu = GetParam().pdu});
    Bytes buffer = pattern(4096);
    std::array<Pdu, 2> pdus;
    for (int i = 0; i < 2; ++i) { // the second right behind the first
        queue_->submit({}, Transfer::to_controller, buffer.data(), 4096, nullptr);
    }
    queue_->flush();
    for (int i = 0; i < 2; ++i) {
        const Pdu pdu = receive_pdu();
        EXPECT_EQ(pdu.as<CommonHeader>().flags, flags(true));
        EXPECT_EQ(pdu.as<CommonHeader>().plen, length(72, 4096));
        EXPECT_EQ(pdu.payload(), buffer);
        EXPECT_TRUE(pdu.digests_match());
    }
}

TEST_P(QueueDigestSent, OfDataThatWasAskedForIsOneForEachPdu) {
    constexpr std::uint32_t kLength = 1024 * 1024;
    open({.in_capsule = 0, .pdu = GetParam().pdu, .max_h2c_data = 4096});
    Bytes buffer = pattern(kLength);
    const auto cid = start_write(buffer);
    controller_->send(sealed(bytes_of(r2t(cid, 1, 0, kLength)), GetParam().pdu));
    for (std::uint32_t i = 0; i < 256; ++i) {
        const Pdu pdu = receive_pdu();
        ASSERT_EQ(pdu.as<CommonHeader>().flags, flags(true) | (i == 255 ? kLastPdu : 0U));
        ASSERT_EQ(pdu.as<CommonHeader>().plen, length(24, 4096));
        ASSERT_EQ(pdu.payload(), slice(buffer, std::size_t{i} * 4096, 4096));
        ASSERT_TRUE(pdu.digests_match());
    }
    controller_->send(sealed(bytes_of(response(cid)), GetParam().pdu));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_P(QueueDigestSent, FitTheSendBatchInEveryAlignment) { // under asan this is the proof
    for (std::uint8_t cpda = 0; cpda <= kMaxPduDataAlignment; ++cpda) {
        open({.size = 4096, .in_capsule = 512, .cpda = cpda, .pdu = GetParam().pdu});
        Bytes buffer = pattern(512);
        std::size_t submitted = 0;
        while (!queue_->full()) {
            queue_->submit({}, Transfer::to_controller, buffer.data(), 512, nullptr);
            ++submitted;
        }
        queue_->flush();
        for (std::size_t i = 0; i < submitted; ++i) {
            const Pdu pdu = receive_pdu();
            ASSERT_EQ(pdu.payload(), buffer);
            ASSERT_TRUE(pdu.digests_match());
            ASSERT_EQ(pdu.as<CommonHeader>().pdo % ((cpda + 1U) * 4U), 0U);
        }
        queue_->close({0, {}}, net::Stream::Ending::orderly);
        ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
        closed_.reset();
        queue_.reset();
    }
}

TEST_P(QueueDigestSent, LeaveDataOfR2tsAlignedAsTheControllerAsks) {
    for (std::uint8_t cpda = 0; cpda <= kMaxPduDataAlignment; ++cpda) {
        open({.in_capsule = 0, .cpda = cpda, .pdu = GetParam().pdu});
        Bytes buffer = pattern(1000);
        const auto cid = start_write(buffer);
        controller_->send(sealed(bytes_of(r2t(cid, 1, 0, 1000)), GetParam().pdu));
        const Pdu pdu = receive_pdu();
        EXPECT_EQ(pdu.as<CommonHeader>().pdo % ((cpda + 1U) * 4U), 0U);
        EXPECT_EQ(pdu.payload(), buffer);
        EXPECT_TRUE(pdu.digests_match());
        queue_->close({0, {}}, net::Stream::Ending::orderly);
        ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
        closed_.reset();
        queue_.reset();
    }
}

INSTANTIATE_TEST_SUITE_P(Agreed, QueueDigestSent, testing::ValuesIn(kAgreements),
                         [](const auto& row) { return row.param.name; });

// ---- what we receive

class QueueDigestReceived : public QueueTest, public testing::WithParamInterface<Agreement> {
protected:
    /// A read of `data` in PDUs of the lengths in `pieces`, each padded to `pdo`; with SUCCESS, or a
    /// response.
    [[nodiscard]] Bytes answer(std::uint16_t cid, const Bytes& data, const std::vector<std::uint32_t>& pieces,
                               std::uint8_t pdo, bool with_success) const {
        Bytes stream;
        std::uint32_t offset = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const bool last = i + 1 == pieces.size();
            const auto flags =
                static_cast<std::uint8_t>((last ? kLastPdu : 0) | (last && with_success ? kSuccess : 0));
            stream = stream + sealed(c2h_data(cid, offset, slice(data, offset, pieces[i]), flags, pdo),
                                     GetParam().pdu);
            offset += pieces[i];
        }
        return with_success ? stream : stream + sealed(bytes_of(response(cid)), GetParam().pdu);
    }
};

TEST_P(QueueDigestReceived, SmallReadsGiveTheSameInEveryCut) {
    open({.pdu = GetParam().pdu});
    const Bytes data = pattern(512);
    for (const bool with_success : {false, true}) {
        for (const std::uint8_t pdo : {24, 64, 128}) {
            std::size_t length = 1;
            for (std::size_t cut = 1; cut < length; ++cut) {
                Bytes buffer(512);
                done_.clear();
                const Bytes stream = answer(start_read(buffer), data, {1, 255, 256}, pdo, with_success);
                length = stream.size();
                controller_->send(slice(stream, 0, cut));
                reactor_->run(0);
                reactor_->run(0);
                controller_->send(slice(stream, cut, length - cut));
                ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
                ASSERT_TRUE(done_[0].status.ok()) << "cut at " << cut;
                ASSERT_EQ(buffer, data) << "cut at " << cut;
            }
        }
    }
}

TEST_P(QueueDigestReceived, SmallReadsGiveTheSameByteForByte) {
    open({.pdu = GetParam().pdu});
    const Bytes data = pattern(512);
    Bytes buffer(512);
    for (const std::byte byte : answer(start_read(buffer), data, {100, 412}, 32, true)) {
        controller_->send(Bytes{byte});
        reactor_->run(0);
    }
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_EQ(buffer, data);
}

TEST_P(QueueDigestReceived, LargeReadsInSevenOddPdusGiveTheSameInEveryCut) {
    open({.pdu = GetParam().pdu});
    const std::vector<std::uint32_t> pieces = {40'000, 1, 33, 32'768, 16'385, 9'999, 31'886};
    const Bytes data = pattern(40'000 + 1 + 33 + 32'768 + 16'385 + 9'999 + 31'886);
    std::vector<std::size_t> cuts;
    std::size_t edge = 0;
    for (const std::uint32_t piece : pieces) {
        edge += 24 + (GetParam().pdu.header_digest ? 4 : 0) + piece + (GetParam().pdu.data_digest ? 4 : 0);
        for (std::size_t around = edge - 5; around <= edge + 29; ++around) {
            cuts.push_back(around);
        }
    }
    for (const std::size_t cut : cuts) {
        Bytes buffer(data.size());
        done_.clear();
        const Bytes stream = answer(start_read(buffer), data, pieces, 24, false);
        if (cut >= stream.size()) {
            done_.clear();
            controller_->send(stream);
            ASSERT_TRUE(run_until_done(1));
            continue;
        }
        controller_->send(slice(stream, 0, cut));
        reactor_->run(0);
        reactor_->run(0);
        controller_->send(slice(stream, cut, stream.size() - cut));
        ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
        ASSERT_TRUE(done_[0].status.ok()) << "cut at " << cut;
        ASSERT_TRUE(buffer == data) << "cut at " << cut;
    }
}

TEST_P(QueueDigestReceived, LargeReadsAreReceivedWhereTheyBelong) {
    open({.pdu = GetParam().pdu});
    const Bytes data = pattern(128 * 1024);
    Bytes buffer(data.size());
    for (std::size_t i = 1; i <= 3; ++i) {
        controller_->send(answer(start_read(buffer), data, {128 * 1024}, 24, true));
        ASSERT_TRUE(run_until_done(i));
        EXPECT_TRUE(done_[i - 1].status.ok());
        EXPECT_TRUE(buffer == data);
    }
    EXPECT_LE(queue_->statistics().payload_copied, 3 * (sizeof(C2hData) + kDigestSize));
}

TEST_P(QueueDigestReceived, TheControllersTerminationRequestHasNone) {
    open({.pdu = GetParam().pdu});
    TermReq request;
    request.common = {static_cast<std::uint8_t>(PduType::c2h_term_req), 0, 24, 0, std::uint32_t{24}};
    request.fes = 2;
    controller_->send(request);
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("PDU sequence error"), std::string::npos) << closed_->text;
    EXPECT_EQ(queue_->statistics().protocol_violations, 0U) << "it was the controller who complained";
}

INSTANTIATE_TEST_SUITE_P(Agreed, QueueDigestReceived, testing::ValuesIn(kAgreements),
                         [](const auto& row) { return row.param.name; });

// ---- data that was damaged on its way

struct Damage {
    const char* name;
    std::uint32_t length; ///< of each of three PDUs
    std::size_t damaged;  ///< which of them
    bool with_success;    ///< else a response of success follows
};

class QueueDamagedData : public QueueTest, public testing::WithParamInterface<Damage> {};

TEST_P(QueueDamagedData, FailsItsCommandAloneWhateverTheControllerSaysOfSuccess) {
    const auto [name, length, damaged, with_success] = GetParam();
    open({.pdu = kDigestBoth});
    const Bytes data = pattern(std::size_t{3} * length);
    Bytes buffer(data.size());
    Bytes other(512);
    const auto cid = start_read(buffer, &buffer);
    const auto other_cid = start_read(other, &other);
    Bytes stream;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto flags = static_cast<std::uint8_t>(i == 2 ? kLastPdu | (with_success ? kSuccess : 0) : 0);
        const auto offset = static_cast<std::uint32_t>(i * length);
        Bytes pdu = sealed(c2h_data(cid, offset, slice(data, offset, length), flags), kDigestBoth);
        if (i == damaged) {
            pdu[28 + length / 2] ^= std::byte{0x10};
        }
        stream = stream + pdu;
    }
    if (!with_success) {
        stream = stream + sealed(bytes_of(response(cid)), kDigestBoth);
    }
    controller_->send(stream +
                      sealed(c2h_data(other_cid, 0, pattern(512), kLastPdu | kSuccess), kDigestBoth));
    ASSERT_TRUE(run_until_done(2));
    settle();
    ASSERT_EQ(done_.size(), 2U);
    EXPECT_EQ(done_[0].owner, &buffer);
    EXPECT_EQ(done_[0].status.code(), StatusCode::transient_transport_error);
    EXPECT_FALSE(done_[0].lost);
    EXPECT_TRUE(done_[1].status.ok());
    EXPECT_FALSE(closed_) << "the connection goes on";
    EXPECT_EQ(queue_->statistics().data_digest_errors, 1U);
    EXPECT_EQ(queue_->statistics().protocol_violations, 0U);

    // The slot's next command knows nothing of it.
    done_.clear();
    controller_->send(sealed(c2h_data(start_read(other), 0, pattern(512), kLastPdu | kSuccess), kDigestBoth));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

INSTANTIATE_TEST_SUITE_P(Rows, QueueDamagedData,
                         testing::Values(Damage{"FirstOfThree", 512, 0, true},
                                         Damage{"MiddleOfThree", 512, 1, false},
                                         Damage{"LastOfThree", 512, 2, true},
                                         Damage{"LastOfThreeThenResponse", 512, 2, false},
                                         Damage{"FirstOfThreeLarge", 40'000, 0, false},
                                         Damage{"LastOfThreeLarge", 40'000, 2, true},
                                         Damage{"LastOfThreeLargeThenResponse", 40'000, 2, false}),
                         [](const auto& row) { return row.param.name; });

TEST_F(QueueDamagedData, KeepsTheControllersOwnError) {
    open({.pdu = kDigestData});
    Bytes buffer(512);
    const auto cid = start_read(buffer);
    Bytes pdu = sealed(c2h_data(cid, 0, pattern(512), kLastPdu), kDigestData);
    pdu.back() ^= std::byte{1};
    controller_->send(pdu + sealed(bytes_of(response(cid, Status(StatusCode::internal_error))), kDigestData));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status.code(), StatusCode::internal_error);
    EXPECT_EQ(queue_->statistics().data_digest_errors, 1U);
}

TEST_F(QueueDamagedData, IsNotSeenInPadding) {
    open({.pdu = kDigestBoth});
    Bytes buffer(512);
    Bytes pdu = sealed(c2h_data(start_read(buffer), 0, pattern(512), kLastPdu | kSuccess, 128), kDigestBoth);
    std::fill(pdu.begin() + 28, pdu.begin() + 128, std::byte{0xa5});
    controller_->send(pdu);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_EQ(buffer, pattern(512));
}

// ---- headers that were damaged on their way

struct HeaderRow {
    const char* name;
    Bytes (*make)(std::uint16_t read, std::uint16_t write);
};

class QueueDamagedHeader : public QueueTest, public testing::WithParamInterface<HeaderRow> {};

TEST_P(QueueDamagedHeader, EndsTheConnectionWithHeaderDigestErrorWhicheverBitItIs) {
    for (std::size_t bit = 0; bit < std::size_t{28} * 8; ++bit) {
        if (bit < 8 || bit == 8 || bit == 9) {
            continue; // another type, or flags that speak of other digests: faults of their own
        }
        open({.in_capsule = 0, .pdu = kDigestBoth});
        Bytes read(512);
        Bytes write = pattern(512);
        const auto read_cid = start_read(read);
        Bytes pdu = sealed(GetParam().make(read_cid, start_write(write)), kDigestBoth);
        pdu[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        controller_->send(pdu);
        std::optional<Pdu> answer;
        ASSERT_TRUE(run_until([&] {
            answer = controller_->next();
            return answer.has_value();
        })) << "bit "
            << bit;
        EXPECT_EQ(answer->type(), PduType::h2c_term_req);
        ASSERT_EQ(answer->as<TermReq>().fes, 3) << "bit " << bit;
        ASSERT_EQ(answer->as<TermReq>().fei, 0U);
        ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
        EXPECT_NE(closed_->text.find("header digest is wrong"), std::string::npos) << closed_->text;
        ASSERT_EQ(done_.size(), 2U);
        EXPECT_TRUE(done_[0].lost && done_[1].lost);
        EXPECT_EQ(queue_->statistics().header_digest_errors, 1U);
        EXPECT_EQ(queue_->statistics().protocol_violations, 0U);
        done_.clear();
        closed_.reset();
        queue_.reset();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, QueueDamagedHeader,
    testing::Values(
        HeaderRow{"C2hData",
                  [](std::uint16_t read, std::uint16_t) {
                      return c2h_data(read, 0, pattern(512), kLastPdu | kSuccess);
                  }},
        HeaderRow{"CapsuleResp", [](std::uint16_t read, std::uint16_t) { return bytes_of(response(read)); }},
        HeaderRow{"R2t", [](std::uint16_t, std::uint16_t write) { return bytes_of(r2t(write, 1, 0, 512)); }}),
    [](const auto& row) { return row.param.name; });

} // namespace
} // namespace mpath::nvme::test
