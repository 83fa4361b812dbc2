// SPDX-License-Identifier: GPL-2.0-only
// Data that goes to a controller: with the command, or as it asks for it.
#include <array>

#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

class QueueWrite : public QueueTest {
protected:
    void submit_write(Bytes& buffer) {
        Sqe sqe;
        sqe.opcode = io_opcode::kWrite;
        queue_->submit(sqe, Transfer::to_controller, buffer.data(), static_cast<std::uint32_t>(buffer.size()),
                       nullptr);
        queue_->flush();
    }
};

TEST_F(QueueWrite, OfInCapsuleSizeCarriesItsData) {
    open({.in_capsule = 4096});
    Bytes buffer = pattern(4096);
    submit_write(buffer);
    const Pdu pdu = receive_pdu();
    const auto capsule = pdu.as<CapsuleCmd>();
    EXPECT_EQ(capsule.common.pdo, 72);
    EXPECT_EQ(capsule.common.plen, 72U + 4096U);
    EXPECT_EQ(capsule.sqe.sgl.identifier, 0x01);
    EXPECT_EQ(capsule.sqe.sgl.address, 0U);
    EXPECT_EQ(capsule.sqe.sgl.length, 4096U);
    EXPECT_EQ(pdu.payload(), buffer);
    controller_->send(response(capsule.sqe.cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_F(QueueWrite, AboveInCapsuleSizeWaitsToBeAsked) {
    open({.in_capsule = 4095});
    Bytes buffer = pattern(4096);
    submit_write(buffer);
    const auto capsule = receive_pdu().as<CapsuleCmd>();
    EXPECT_EQ(capsule.common.plen, 72U);
    EXPECT_EQ(capsule.sqe.sgl.identifier, 0x5a);
    EXPECT_EQ(capsule.sqe.sgl.length, 4096U);
}

TEST_F(QueueWrite, OfATargetWithoutInCapsuleRoomAlwaysWaitsToBeAsked) {
    open({.in_capsule = 0});
    Bytes buffer = pattern(16);
    const auto cid = start_write(buffer);
    controller_->send(r2t(cid, 1, 0, 16));
    EXPECT_EQ(receive_pdu().payload(), buffer);
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_F(QueueWrite, IsSplitByMaxH2cDataUnderOneTagWithLastOnce) {
    constexpr std::uint32_t kLength = 1024 * 1024;
    open({.in_capsule = 0, .max_h2c_data = 4096});
    Bytes buffer = pattern(kLength);
    const auto cid = start_write(buffer);
    controller_->send(r2t(cid, 0xbeef, 0, kLength));
    Bytes received;
    for (std::uint32_t i = 0; i < 256; ++i) {
        const Pdu pdu = receive_pdu();
        const auto data = pdu.as<H2cData>();
        ASSERT_EQ(data.common.type, 0x06);
        ASSERT_EQ(data.common.hlen, 24);
        ASSERT_EQ(data.common.pdo, 24);
        ASSERT_EQ(data.common.plen, 24U + 4096U);
        ASSERT_EQ(data.common.flags, i == 255 ? pdu_flag::kLastPdu : 0);
        ASSERT_EQ(data.cccid, cid);
        ASSERT_EQ(data.ttag, 0xbeef);
        ASSERT_EQ(data.datao, i * 4096);
        ASSERT_EQ(data.datal, 4096U);
        received = received + pdu.payload();
    }
    EXPECT_TRUE(received == buffer);
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_F(QueueWrite, FollowsSmallStepsOfR2tEachWithItsTagAndItsLast) {
    open({.in_capsule = 0});
    Bytes buffer = pattern(4096);
    const auto cid = start_write(buffer);
    for (std::uint16_t step = 0; step < 8; ++step) {
        const std::uint32_t offset = step * 512U;
        controller_->send(r2t(cid, step, offset, 512));
        const Pdu pdu = receive_pdu();
        const auto data = pdu.as<H2cData>();
        EXPECT_EQ(data.ttag, step);
        EXPECT_EQ(data.datao, offset);
        EXPECT_EQ(data.common.flags, pdu_flag::kLastPdu);
        EXPECT_EQ(pdu.payload(), slice(buffer, offset, 512));
    }
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_F(QueueWrite, OfSeveralCommandsIsServedInTheOrderOfTheirR2ts) {
    open({.in_capsule = 0, .max_h2c_data = 4096});
    Bytes first = pattern(8192, 1);
    Bytes second = pattern(8192, 2);
    const auto first_cid = start_write(first);
    const auto second_cid = start_write(second);
    controller_->send(bytes_of(r2t(second_cid, 2, 0, 8192)) + bytes_of(r2t(first_cid, 1, 0, 8192)));
    for (const auto cid : {second_cid, second_cid, first_cid, first_cid}) {
        EXPECT_EQ(receive_pdu().as<H2cData>().cccid, cid);
    }
    controller_->send(bytes_of(response(first_cid)) + bytes_of(response(second_cid)));
    ASSERT_TRUE(run_until_done(2));
}

class QueueWriteAlignment : public QueueTest, public testing::WithParamInterface<std::uint8_t> {};

TEST_P(QueueWriteAlignment, StartsDataWhereTheControllerWantsIt) {
    const std::uint8_t cpda = GetParam();
    const std::size_t alignment = (cpda + 1U) * 4U;
    open({.in_capsule = 512, .cpda = cpda});
    Bytes small = pattern(512, 1);
    Bytes large = pattern(1024, 2);
    queue_->submit({}, Transfer::to_controller, small.data(), 512, nullptr);
    queue_->submit({}, Transfer::to_controller, large.data(), 1024, nullptr);
    queue_->flush();
    const Pdu capsule = receive_pdu();
    const auto common = capsule.as<CommonHeader>();
    EXPECT_EQ(common.pdo % alignment, 0U);
    EXPECT_GE(common.pdo, 72);
    EXPECT_LT(common.pdo, 72 + alignment);
    EXPECT_EQ(common.plen, common.pdo + 512U);
    EXPECT_EQ(capsule.payload(), small);
    EXPECT_EQ(slice(capsule.bytes, 72, common.pdo - 72U), Bytes(common.pdo - 72U)) << "padding is zero";

    controller_->send(r2t(receive_pdu().as<CapsuleCmd>().sqe.cid, 1, 0, 1024));
    const Pdu data = receive_pdu();
    const auto header = data.as<CommonHeader>();
    EXPECT_EQ(header.pdo % alignment, 0U);
    EXPECT_EQ(header.plen, header.pdo + 1024U);
    EXPECT_EQ(data.payload(), large);
}

INSTANTIATE_TEST_SUITE_P(Cpda, QueueWriteAlignment, testing::Range(std::uint8_t{0}, std::uint8_t{32}));

TEST_P(QueueWriteAlignment, NeverWritesBeyondTheSendBatch) { // under asan this is the proof
    open({.size = 4096, .in_capsule = 512, .cpda = GetParam()});
    Bytes buffer = pattern(512);
    std::size_t submitted = 0;
    while (!queue_->full()) {
        queue_->submit({}, Transfer::to_controller, buffer.data(), 512, nullptr);
        ++submitted;
    }
    EXPECT_LT(submitted, 4095U) << "the batch was full before the slots";
    queue_->flush();
    for (std::size_t i = 0; i < submitted; ++i) {
        ASSERT_EQ(receive_pdu().payload(), buffer);
    }
}

// An early answer: the controller needs no more of the data, but the network still reads the buffer.

class QueueEarlyAnswer : public QueueTest {
protected:
    static constexpr std::uint32_t kLength = 4 * 1024 * 1024;

    /// A write whose first batch of data is stuck in a full connection.
    void begin() {
        open({.in_capsule = 0, .max_h2c_data = 4096}, 16 * 1024);
        buffer_ = pattern(kLength);
        cid_ = start_write(buffer_, this);
        controller_->end().set_reading(false);
        controller_->send(r2t(cid_, 1, 0, kLength));
        settle();
    }

    Bytes buffer_;
    std::uint16_t cid_ = 0;
};

TEST_F(QueueEarlyAnswer, StopsTheDataAndEndsTheCommandOnceItsBatchHasLeft) {
    begin();
    const Status status(StatusCode::lba_out_of_range);
    controller_->send(response(cid_, status));
    settle();
    EXPECT_TRUE(done_.empty()) << "the network still refers to the buffer";
    EXPECT_EQ(queue_->outstanding(), 1U);

    controller_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status, status);
    EXPECT_FALSE(done_[0].lost);
    std::size_t sent = 0;
    bool last = false;
    settle();
    while (const auto pdu = controller_->next()) {
        EXPECT_EQ(pdu->payload(), slice(buffer_, sent, pdu->payload().size()));
        sent += pdu->payload().size();
        last = last || (pdu->as<CommonHeader>().flags & pdu_flag::kLastPdu) != 0;
    }
    EXPECT_LT(sent, kLength);
    EXPECT_FALSE(last);

    // The connection is in order: the next command works.
    Bytes next(512);
    controller_->send(c2h_data(start_read(next), 0, pattern(512), pdu_flag::kLastPdu | pdu_flag::kSuccess));
    ASSERT_TRUE(run_until_done(2));
    EXPECT_TRUE(done_[1].status.ok());
}

TEST_F(QueueEarlyAnswer, OfSuccessIsADataTransferErrorBecauseTheDataDidNotArrive) {
    begin();
    controller_->send(response(cid_));
    settle();
    controller_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status.code(), StatusCode::data_transfer_error);
}

TEST_F(QueueEarlyAnswer, LeavesTheOtherWritesInTheLineOfR2ts) {
    open({.in_capsule = 0, .max_h2c_data = 4096}, 16 * 1024);
    std::array<Bytes, 3> buffers = {pattern(kLength, 1), pattern(8192, 2), pattern(8192, 3)};
    std::array<std::uint16_t, 3> cids{};
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        cids[i] = start_write(buffers[i], &buffers[i]);
    }
    controller_->end().set_reading(false);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        controller_->send(r2t(cids[i], 1, 0, static_cast<std::uint32_t>(buffers[i].size())));
    }
    settle();
    // The last one waits behind the other two and needs nothing of the network: it ends at once. Then one
    // more comes to the end of the line.
    controller_->send(response(cids[2], Status(StatusCode::internal_error)));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].owner, &buffers[2]);
    controller_->end().set_reading(true);
    const auto read_write = [&](std::uint16_t cid) {
        std::size_t received = 0;
        while (true) {
            const Pdu pdu = receive_pdu();
            EXPECT_EQ(pdu.as<H2cData>().cccid, cid);
            received += pdu.payload().size();
            if ((pdu.as<CommonHeader>().flags & pdu_flag::kLastPdu) != 0 || HasFailure()) {
                return received;
            }
        }
    };
    EXPECT_EQ(read_write(cids[0]), kLength);
    EXPECT_EQ(read_write(cids[1]), 8192U);
    controller_->send(bytes_of(response(cids[0])) + bytes_of(response(cids[1])));
    ASSERT_TRUE(run_until_done(3));
}

TEST_F(QueueEarlyAnswer, ThatComesTwiceEndsTheConnectionButTheCommandOnce) {
    begin();
    Bytes read(512);
    queue_->submit({}, Transfer::to_host, read.data(), 512, &read);
    const Status status(StatusCode::lba_out_of_range);
    controller_->send(bytes_of(response(cid_, status)) + bytes_of(response(cid_, status)));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("second completion"), std::string::npos) << closed_->text;
    ASSERT_EQ(done_.size(), 2U);
    for (const Completion& completion : done_) {
        EXPECT_EQ(completion.lost, completion.owner == &read);
        if (!completion.lost) {
            EXPECT_EQ(completion.status, status) << "it was answered, and the answer stands";
        }
    }
}

TEST_F(QueueEarlyAnswer, MakesALaterR2tAViolation) {
    begin();
    controller_->send(bytes_of(response(cid_, Status(StatusCode::internal_error))) +
                      bytes_of(r2t(cid_, 2, 0, 512)));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("R2T for a command that is not outstanding"), std::string::npos);
    EXPECT_EQ(done_.size(), 1U);
}

TEST_F(QueueWrite, SuccessBeforeAllDataWasAskedForIsADataTransferError) {
    open({.in_capsule = 0});
    Bytes buffer = pattern(4096);
    const auto cid = start_write(buffer);
    controller_->send(r2t(cid, 1, 0, 512));
    EXPECT_EQ(receive_pdu().payload().size(), 512U);
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status.code(), StatusCode::data_transfer_error);
}

TEST_F(QueueWrite, LargerThanABatchGoesOutInSeveral) {
    constexpr std::uint32_t kLength = 4 * 1024 * 1024;
    open({.in_capsule = 0, .max_h2c_data = 4096});
    Bytes buffer = pattern(kLength);
    const auto cid = start_write(buffer);
    const int before = batches_sent_;
    controller_->send(r2t(cid, 1, 0, kLength));
    Bytes received;
    while (received.size() < kLength && !HasFailure()) {
        const Pdu pdu = receive_pdu();
        EXPECT_EQ(pdu.as<H2cData>().datao, received.size());
        received = std::move(received) + pdu.payload();
    }
    EXPECT_TRUE(received == buffer);
    EXPECT_GE(batches_sent_ - before, 3);
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

} // namespace
} // namespace mpath::nvme::test
