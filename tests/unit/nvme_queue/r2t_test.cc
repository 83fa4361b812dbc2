// SPDX-License-Identifier: GPL-2.0-only
// Several R2Ts outstanding for one command, as MAXR2T allows.
#include <array>

#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

constexpr std::uint32_t kStep = 512;

class QueueR2t : public QueueTest {
protected:
    void open_for(std::uint32_t max_r2t, int buffer = 0) {
        open({.in_capsule = 0, .pdu = {.max_r2t = max_r2t}, .max_h2c_data = 4096}, buffer);
    }
    void expect_data(std::uint16_t cid, std::uint16_t ttag, const Bytes& buffer, std::uint32_t offset,
                     std::uint32_t length) {
        const Pdu pdu = receive_pdu();
        const auto data = pdu.as<H2cData>();
        EXPECT_EQ(data.cccid, cid);
        EXPECT_EQ(data.ttag, ttag);
        EXPECT_EQ(data.datao, offset);
        EXPECT_EQ(data.common.flags, pdu_flag::kLastPdu);
        EXPECT_EQ(pdu.payload(), slice(buffer, offset, length));
    }
};

TEST_F(QueueR2t, ThatComeTogetherAreServedInOrderEachWithItsTag) {
    open_for(4);
    Bytes buffer = pattern(4 * kStep);
    const auto cid = start_write(buffer);
    Bytes stream;
    for (std::uint16_t i = 0; i < 4; ++i) {
        stream = stream + bytes_of(r2t(cid, 0x100 + i, i * kStep, kStep));
    }
    controller_->send(stream);
    for (std::uint16_t i = 0; i < 4; ++i) {
        expect_data(cid, 0x100 + i, buffer, i * kStep, kStep);
    }
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_F(QueueR2t, AboveTheLimitAreAViolation) {
    open_for(4);
    controller_->send(response(start(Transfer::none, nullptr, 0)));
    ASSERT_TRUE(run_until_done(1)); // from here on one receive takes all that has come
    Bytes buffer = pattern(8 * kStep);
    const auto cid = start_write(buffer);
    Bytes stream;
    for (std::uint16_t i = 0; i < 5; ++i) {
        stream = stream + bytes_of(r2t(cid, i, i * kStep, kStep));
    }
    controller_->send(stream);
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("more R2Ts outstanding than MAXR2T"), std::string::npos) << closed_->text;
}

TEST_F(QueueR2t, HaveToContinueOneAnother) {
    open_for(4);
    Bytes buffer = pattern(8 * kStep);
    const auto cid = start_write(buffer);
    controller_->send(bytes_of(r2t(cid, 1, 0, kStep)) + bytes_of(r2t(cid, 2, 2 * kStep, kStep)));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("R2T out of order"), std::string::npos) << closed_->text;
}

TEST_F(QueueR2t, MayComeForEver) {
    open_for(3);
    Bytes buffer = pattern(20 * kStep);
    const auto cid = start_write(buffer);
    for (std::uint16_t i = 0; i < 20; i += 2) {
        controller_->send(bytes_of(r2t(cid, i, i * kStep, kStep)) +
                          bytes_of(r2t(cid, i + 1, (i + 1U) * kStep, kStep)));
        expect_data(cid, i, buffer, i * kStep, kStep);
        expect_data(cid, i + 1, buffer, (i + 1U) * kStep, kStep);
    }
    controller_->send(response(cid));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
}

TEST_F(QueueR2t, OfSeveralCommandsAreServedInTheOrderTheyCame) {
    open_for(2);
    Bytes a = pattern(2 * kStep, 1);
    Bytes b = pattern(2 * kStep, 2);
    const auto a_cid = start_write(a);
    const auto b_cid = start_write(b);
    controller_->send(bytes_of(r2t(a_cid, 1, 0, kStep)) + bytes_of(r2t(b_cid, 2, 0, kStep)) +
                      bytes_of(r2t(a_cid, 3, kStep, kStep)) + bytes_of(r2t(b_cid, 4, kStep, kStep)));
    expect_data(a_cid, 1, a, 0, kStep);
    expect_data(b_cid, 2, b, 0, kStep);
    expect_data(a_cid, 3, a, kStep, kStep);
    expect_data(b_cid, 4, b, kStep, kStep);
}

TEST_F(QueueR2t, OfTheLargestNumberAllFit) {
    open_for(kMaxR2t);
    std::array<Bytes, 2> buffers = {pattern(kMaxR2t * kStep, 1), pattern(kMaxR2t * kStep, 2)};
    std::array<std::uint16_t, 2> cids{};
    Bytes stream;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        cids[i] = start_write(buffers[i]);
        for (std::uint16_t turn = 0; turn < kMaxR2t; ++turn) {
            stream = stream + bytes_of(r2t(cids[i], turn, turn * kStep, kStep));
        }
    }
    controller_->send(stream);
    Bytes received;
    for (std::size_t i = 0; i < buffers.size() * kMaxR2t; ++i) {
        const Pdu pdu = receive_pdu();
        const Bytes& buffer = pdu.as<H2cData>().cccid == cids[0] ? buffers[0] : buffers[1];
        EXPECT_EQ(pdu.payload(), slice(buffer, pdu.as<H2cData>().datao, kStep));
    }
    controller_->send(bytes_of(response(cids[0])) + bytes_of(response(cids[1])));
    ASSERT_TRUE(run_until_done(2));
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_TRUE(done_[1].status.ok());
}

TEST_F(QueueR2t, AreForgottenAfterAnEarlyAnswerAndTheConnectionGoesOn) {
    constexpr std::uint32_t kLength = 4 * 1024 * 1024;
    open_for(2, 16 * 1024);
    Bytes buffer = pattern(kLength);
    const auto cid = start_write(buffer);
    controller_->end().set_reading(false);
    controller_->send(bytes_of(r2t(cid, 1, 0, kLength / 2)) +
                      bytes_of(r2t(cid, 2, kLength / 2, kLength / 2)));
    settle();
    controller_->send(response(cid, Status(StatusCode::lba_out_of_range)));
    settle();
    EXPECT_TRUE(done_.empty()) << "the network still refers to the buffer";
    controller_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status.code(), StatusCode::lba_out_of_range);
    settle();
    while (const auto pdu = controller_->next()) {
        EXPECT_EQ(pdu->as<H2cData>().ttag, 1) << "nothing of the second R2T";
    }

    Bytes next = pattern(2 * kStep, 3);
    const auto next_cid = start_write(next);
    controller_->send(bytes_of(r2t(next_cid, 7, 0, kStep)) + bytes_of(r2t(next_cid, 8, kStep, kStep)));
    expect_data(next_cid, 7, next, 0, kStep);
    expect_data(next_cid, 8, next, kStep, kStep);
    controller_->send(response(next_cid));
    ASSERT_TRUE(run_until_done(2));
    EXPECT_TRUE(done_[1].status.ok());
}

TEST_F(QueueR2t, ForMegabytesLeaveRoomForCommands) {
    constexpr std::uint32_t kLength = 4 * 1024 * 1024;
    open_for(1, 16 * 1024);
    Bytes large = pattern(kLength);
    const auto cid = start_write(large);
    controller_->end().set_reading(false);
    controller_->send(r2t(cid, 1, 0, kLength));
    settle();
    for (int i = 0; i < 20; ++i) {
        ASSERT_FALSE(queue_->full());
        queue_->submit({}, Transfer::none, nullptr, 0, nullptr);
        queue_->flush();
    }
    controller_->end().set_reading(true);
    int commands = 0;
    std::uint32_t before = 0; // bytes of the write in front of the last command
    for (std::uint32_t received = 0; received < kLength && !HasFailure();) {
        const Pdu pdu = receive_pdu();
        if (pdu.type() == PduType::capsule_cmd) {
            ++commands;
            before = received;
        }
        received += static_cast<std::uint32_t>(pdu.payload().size());
    }
    EXPECT_EQ(commands, 20);
    EXPECT_LT(before, kLength);
}

} // namespace
} // namespace mpath::nvme::test
