// SPDX-License-Identifier: GPL-2.0-only
// Several R2Ts at once, and answers that come before all data has left.
#include <array>

#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

constexpr std::uint32_t kStep = 1024;
constexpr std::uint32_t kMegabytes = 4 * 1024 * 1024;

class SessionR2t : public SessionTest {
protected:
    void open_for(std::uint16_t max_r2t, int buffer = 0) {
        open({.parameters = {.max_send_data = 4096,
                             .max_burst = kMegabytes,
                             .max_outstanding_r2t = max_r2t,
                             .immediate_data = false},
              .buffer = buffer});
    }
    /// The next PDU is all the data of that R2T.
    void expect_data(std::uint32_t tag, std::uint32_t target_tag, const Bytes& buffer, std::uint32_t offset) {
        const Pdu pdu = receive(Opcode::data_out);
        const auto data = pdu.as<DataOut>();
        EXPECT_EQ(data.task_tag, tag);
        EXPECT_EQ(data.target_tag, target_tag);
        EXPECT_EQ(data.offset, offset);
        EXPECT_EQ(data.data_sn, 0U);
        EXPECT_TRUE(pdu.final());
        EXPECT_EQ(pdu.data, slice(buffer, offset, kStep));
    }
};

TEST_F(SessionR2t, OfOneCommandAreServedInTheirOrder) {
    open_for(4);
    Bytes buffer = pattern(4 * kStep);
    const auto tag = start_write(buffer);
    Bytes stream;
    for (std::uint32_t i = 0; i < 4; ++i) {
        stream = stream + target_->r2t(tag, 100 - i, i * kStep, kStep);
    }
    target_->send(stream);
    for (std::uint32_t i = 0; i < 4; ++i) {
        expect_data(tag, 100 - i, buffer, i * kStep);
    }
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionR2t, BeyondWhatWasAgreedOnEndTheConnection) {
    open_for(2);
    const auto first = start_flush();
    target_->send(target_->response(first)); // so that what follows is received as a whole
    ASSERT_TRUE(run_until_done(1));
    Bytes buffer = pattern(4 * kStep);
    const auto tag = start_write(buffer);
    target_->send({target_->r2t(tag, 1, 0, kStep), target_->r2t(tag, 2, kStep, kStep),
                   target_->r2t(tag, 3, 2 * kStep, kStep)});
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("more R2Ts outstanding than MaxOutstandingR2T"), std::string::npos)
        << closed_->text;
}

TEST_F(SessionR2t, MayComeForEver) {
    open_for(3);
    Bytes buffer = pattern(20 * kStep);
    const auto tag = start_write(buffer);
    for (std::uint32_t i = 0; i < 20; i += 2) {
        target_->send(
            {target_->r2t(tag, i, i * kStep, kStep), target_->r2t(tag, i + 1, (i + 1) * kStep, kStep)});
        expect_data(tag, i, buffer, i * kStep);
        expect_data(tag, i + 1, buffer, (i + 1) * kStep);
    }
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

TEST_F(SessionR2t, OfSeveralCommandsAreServedInTheOrderTheyCame) {
    open_for(2);
    Bytes a = pattern(2 * kStep, 1);
    Bytes b = pattern(2 * kStep, 2);
    const auto a_tag = start_write(a);
    const auto b_tag = start_write(b);
    target_->send({target_->r2t(b_tag, 1, 0, kStep), target_->r2t(a_tag, 2, 0, kStep),
                   target_->r2t(b_tag, 3, kStep, kStep), target_->r2t(a_tag, 4, kStep, kStep)});
    expect_data(b_tag, 1, b, 0);
    expect_data(a_tag, 2, a, 0);
    expect_data(b_tag, 3, b, kStep);
    expect_data(a_tag, 4, a, kStep);
}

TEST_F(SessionR2t, OfALargeNumberAllFit) {
    constexpr std::uint16_t kMany = 300; // more than a byte counts
    open_for(kMany);
    std::array<Bytes, 2> buffers = {pattern(kMany * kStep, 1), pattern(kMany * kStep, 2)};
    std::array<std::uint32_t, 2> tags{};
    Bytes stream;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        tags[i] = start_write(buffers[i]);
        for (std::uint32_t turn = 0; turn < kMany; ++turn) {
            stream = stream + target_->r2t(tags[i], turn, turn * kStep, kStep);
        }
    }
    target_->send(stream);
    for (std::size_t i = 0; i < buffers.size() * kMany && !HasFailure(); ++i) {
        const Pdu pdu = receive(Opcode::data_out);
        const Bytes& buffer = pdu.tag() == tags[0] ? buffers[0] : buffers[1];
        EXPECT_EQ(pdu.data, slice(buffer, pdu.as<DataOut>().offset, kStep));
    }
    target_->send({target_->response(tags[0]), target_->response(tags[1])});
    ASSERT_TRUE(run_until_done(2));
    EXPECT_TRUE(succeeded(done_[0].end));
    EXPECT_TRUE(succeeded(done_[1].end));
}

TEST_F(SessionR2t, ForMegabytesLeaveRoomForCommands) {
    open_for(1, 16 * 1024);
    Bytes large = pattern(kMegabytes);
    const auto tag = start_write(large);
    target_->end().set_reading(false);
    target_->send(target_->r2t(tag, 1, 0, kMegabytes));
    settle();
    for (int i = 0; i < 20; ++i) {
        ASSERT_FALSE(session_->full());
        submit(Transfer::none, nullptr, 0);
        session_->flush();
    }
    target_->end().set_reading(true);
    int commands = 0;
    std::uint32_t before = 0; // bytes of the write in front of the last command
    for (std::uint32_t received = 0; received < kMegabytes && !HasFailure();) {
        const Pdu pdu = receive();
        if (pdu.opcode() == Opcode::scsi_command) {
            ++commands;
            before = received;
        }
        received += static_cast<std::uint32_t>(pdu.data.size());
    }
    EXPECT_EQ(commands, 20);
    EXPECT_LT(before, kMegabytes);
}

// An early answer: the target needs no more of the data, but the network still reads the buffer.

class SessionEarlyAnswer : public SessionR2t {
protected:
    /// A write whose first batch of data is stuck in a full connection.
    void begin() {
        open_for(2, 16 * 1024);
        buffer_ = pattern(kMegabytes);
        tag_ = start_write(buffer_, this);
        target_->end().set_reading(false);
        target_->send({target_->r2t(tag_, 1, 0, kMegabytes / 2),
                       target_->r2t(tag_, 2, kMegabytes / 2, kMegabytes / 2)});
        settle();
    }
    Bytes refusal(std::uint32_t tag) { return target_->response(tag, scsi_status::kCheckCondition, kSense); }

    static inline const Bytes kSense = sense_segment(sense_key::kIllegalRequest, 0x21, 0);
    Bytes buffer_;
    std::uint32_t tag_ = 0;
};

TEST_F(SessionEarlyAnswer, StopsTheDataAndEndsTheCommandOnceItsBatchHasLeft) {
    begin();
    target_->send(refusal(tag_));
    settle();
    EXPECT_TRUE(done_.empty()) << "the network still refers to the buffer";
    EXPECT_EQ(session_->outstanding(), 1U);

    target_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.owner, this);
    EXPECT_EQ(done_[0].end.status, scsi_status::kCheckCondition);
    EXPECT_EQ(done_[0].sense, slice(kSense, 2, kSense.size() - 2)) << "kept while it waited";
    EXPECT_FALSE(done_[0].end.lost);
    std::size_t sent = 0;
    settle();
    while (const auto pdu = target_->next()) {
        EXPECT_EQ(pdu->as<DataOut>().target_tag, 1U) << "nothing of the second R2T";
        EXPECT_FALSE(pdu->final());
        EXPECT_EQ(pdu->data, slice(buffer_, sent, pdu->data.size()));
        sent += pdu->data.size();
    }
    EXPECT_LT(sent, kMegabytes / 2);

    // The connection is in order: the next write works, its R2Ts are its own.
    Bytes next = pattern(2 * kStep, 3);
    const auto tag = start_write(next);
    target_->send({target_->r2t(tag, 7, 0, kStep), target_->r2t(tag, 8, kStep, kStep)});
    expect_data(tag, 7, next, 0);
    expect_data(tag, 8, next, kStep);
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(2));
    EXPECT_TRUE(succeeded(done_[1].end));
}

TEST_F(SessionEarlyAnswer, OfSuccessHasNotMovedAllBecauseTheDataDidNotArrive) {
    begin();
    target_->send(target_->response(tag_));
    settle();
    target_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kGood);
    EXPECT_LT(done_[0].end.moved, done_[0].end.asked);
}

TEST_F(SessionEarlyAnswer, KeepsAsMuchSenseAsIsUseful) {
    begin();
    target_->send(target_->response(tag_, scsi_status::kCheckCondition,
                                    Bytes{std::byte{0}, std::byte{252}} + pattern(252)));
    settle();
    target_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].sense, pattern(32));
}

TEST_F(SessionEarlyAnswer, ComesForDataThatWentUnaskedAsWell) {
    open({.parameters = {.max_send_data = 65536, .first_burst = kMegabytes, .initial_r2t = false},
          .buffer = 16 * 1024});
    Bytes buffer = pattern(kMegabytes);
    target_->end().set_reading(false);
    submit_write(buffer);
    session_->flush();
    settle();
    ScsiResponse pdu; // for the first command of the session, whose tag is its slot
    pdu.task_tag = 0;
    pdu.status = scsi_status::kBusy;
    target_->send(target_->wire(pdu, {}, true));
    settle();
    EXPECT_TRUE(done_.empty()) << "the network still refers to the buffer";
    target_->end().set_reading(true);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.status, scsi_status::kBusy);
}

TEST_F(SessionEarlyAnswer, LeavesTheOtherWritesInTheLineOfR2ts) {
    open_for(1, 16 * 1024);
    std::array<Bytes, 3> buffers = {pattern(kMegabytes, 1), pattern(8192, 2), pattern(8192, 3)};
    std::array<std::uint32_t, 3> tags{};
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        tags[i] = start_write(buffers[i], &buffers[i]);
    }
    target_->end().set_reading(false);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        target_->send(target_->r2t(tags[i], 1, 0, static_cast<std::uint32_t>(buffers[i].size())));
    }
    settle();
    // The last one waits behind the other two and needs nothing of the network: it ends at once.
    target_->send(refusal(tags[2]));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].end.owner, &buffers[2]);
    target_->end().set_reading(true);
    for (const std::size_t i : {0, 1}) {
        std::size_t received = 0;
        for (bool last = false; !last && !HasFailure();) {
            const Pdu pdu = receive(Opcode::data_out);
            EXPECT_EQ(pdu.tag(), tags[i]);
            received += pdu.data.size();
            last = pdu.final();
        }
        EXPECT_EQ(received, buffers[i].size());
    }
    target_->send({target_->response(tags[0]), target_->response(tags[1])});
    ASSERT_TRUE(run_until_done(3));
}

TEST_F(SessionEarlyAnswer, ThatComesTwiceEndsTheConnectionButTheCommandOnce) {
    begin();
    Bytes read(512);
    submit(Transfer::to_host, read.data(), 512, &read);
    target_->send({refusal(tag_), refusal(tag_)});
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("a response to a command that is not outstanding"), std::string::npos)
        << closed_->text;
    ASSERT_EQ(done_.size(), 2U);
    for (const Done& done : done_) {
        EXPECT_EQ(done.end.lost, done.end.owner == &read);
        if (!done.end.lost) {
            EXPECT_EQ(done.end.status, scsi_status::kCheckCondition)
                << "it was answered, and the answer stands";
            EXPECT_FALSE(done.sense.empty());
        }
    }
}

TEST_F(SessionEarlyAnswer, MakesALaterR2tAViolation) {
    begin();
    target_->send({refusal(tag_), target_->r2t(tag_, 3, 0, 512)});
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("R2T for a command that is not outstanding"), std::string::npos);
    EXPECT_EQ(done_.size(), 1U);
}

} // namespace
} // namespace mpath::iscsi::test
