// SPDX-License-Identifier: GPL-2.0-only
// Digests, where they were agreed on: right ones on all that is sent, and what a wrong one costs.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

class SessionDigest : public SessionTest {
protected:
    static Bytes flipped(Bytes pdu, std::size_t place) {
        pdu[place] ^= std::byte{1};
        return pdu;
    }
};

TEST_F(SessionDigest, IsOnRequestsThatAreNoCommandsAsWell) {
    open({.parameters = with_digests()});
    std::uint32_t tag = 0;
    ASSERT_TRUE(session_->ping());
    ASSERT_TRUE(session_->reset_unit(kLun, tag));
    ASSERT_TRUE(session_->log_out());
    session_->flush();
    for (const Opcode opcode : {Opcode::nop_out, Opcode::task_management, Opcode::logout}) {
        EXPECT_TRUE(receive(opcode).digests_match);
    }
}

TEST_F(SessionDigest, OfAHeaderThatIsWrongEndsTheConnection) {
    open({.parameters = with_digests()});
    Bytes buffer(512);
    const auto tag = start_read(buffer);
    target_->send(flipped(target_->answer_read(tag, pattern(512)), 20));
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("its header digest is wrong"), std::string::npos) << closed_->text;
    EXPECT_EQ(session_->statistics().header_digest_errors, 1U);
    EXPECT_EQ(session_->statistics().protocol_violations, 0U) << "the target may have sent it right";
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].end.lost);
}

class SessionDataDigest : public SessionDigest, public testing::WithParamInterface<std::size_t> {};

TEST_P(SessionDataDigest, ThatIsWrongFailsTheCommandAndNothingElse) {
    open({.parameters = with_digests({.max_receive_data = 262144})});
    Bytes damaged(GetParam());
    Bytes whole(GetParam());
    const auto first = start_read(damaged);
    const auto second = start_read(whole);
    target_->send({flipped(target_->answer_read(first, pattern(GetParam())), 100),
                   target_->answer_read(second, pattern(GetParam()))});
    ASSERT_TRUE(run_until_done(2));
    EXPECT_TRUE(done_[0].end.damaged);
    EXPECT_EQ(done_[0].end.status, scsi_status::kGood) << "as the target said";
    EXPECT_TRUE(succeeded(done_[1].end));
    EXPECT_EQ(whole, pattern(GetParam()));
    EXPECT_EQ(session_->statistics().data_digest_errors, 1U);
    EXPECT_FALSE(closed_);
}

/// In staging, with padding, received directly, as a whole, with padding behind it.
INSTANTIATE_TEST_SUITE_P(Sizes, SessionDataDigest, testing::Values(512, 511, 20'000, 65'536, 65'533));

TEST_F(SessionDigest, IsOfThePaddingAsWell) {
    open({.parameters = with_digests()});
    Bytes buffer(511);
    const Bytes pdu = target_->answer_read(start_read(buffer), pattern(511));
    target_->send(flipped(pdu, pdu.size() - kDigestSize - 1));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].end.damaged);
}

TEST_F(SessionDigest, OfAnEarlierPieceThatIsWrongFailsTheCommandWhenItsStatusComes) {
    open({.parameters = with_digests()});
    Bytes buffer(1024);
    const auto tag = start_read(buffer);
    target_->send(flipped(target_->data_in(tag, 0, pattern(512), 0), 60));
    settle();
    EXPECT_TRUE(done_.empty()) << "the target still sends to its buffer";
    target_->send({target_->data_in(tag, 512, pattern(512), kFinal), target_->response(tag)});
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].end.damaged);
}

TEST_F(SessionDigest, OfSenseDataThatIsWrongEndsTheConnection) {
    open({.parameters = with_digests()});
    target_->send(
        flipped(target_->response(start_flush(), scsi_status::kCheckCondition, sense_segment(6, 0x29, 0)),
                kBhsSize + kDigestSize + 4));
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("its data digest is wrong"), std::string::npos) << closed_->text;
    EXPECT_EQ(session_->statistics().data_digest_errors, 1U);
    EXPECT_EQ(session_->statistics().protocol_violations, 0U);
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].end.lost);
}

TEST_F(SessionDigest, OfDataIsNotThereWithoutData) {
    open({.parameters = with_digests()});
    target_->send(target_->response(start_flush()));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(succeeded(done_[0].end));
}

} // namespace
} // namespace mpath::iscsi::test
