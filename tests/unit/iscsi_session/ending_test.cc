// SPDX-License-Identifier: GPL-2.0-only
// The end of a connection: every open command ends as lost, once, and after that nothing touches its buffer.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

class SessionEnding : public SessionTest {};

TEST_F(SessionEnding, ByTheTargetWithoutCommandsIsAnError) {
    open();
    target_->end().close();
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->code, ECONNRESET);
    EXPECT_NE(closed_->text.find("the peer closed the connection"), std::string::npos);
    EXPECT_EQ(times_closed_, 1);
    EXPECT_TRUE(session_->closing());
}

TEST_F(SessionEnding, ByResetNamesIt) {
    open();
    Bytes buffer(4096);
    start_read(buffer);
    target_->end().reset();
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->code, ECONNRESET);
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].end.lost);
}

class SessionFarewell : public SessionTest, public testing::WithParamInterface<bool> {};

TEST_P(SessionFarewell, TellsTheTarget) {
    open({.parameters = GetParam() ? with_digests() : SessionParameters{}});
    Bytes buffer(4096);
    start_read(buffer);
    session_->close({0, {}}, net::Stream::Ending::orderly);
    EXPECT_TRUE(session_->closing());
    EXPECT_TRUE(done_.empty()) << "the kernel may still hold the buffer";
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->code, 0);
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].end.lost);
    const Pdu logout = receive(Opcode::logout);
    EXPECT_TRUE(logout.digests_match);
    EXPECT_TRUE(run_until([this] { return target_->end().ended(); }));
    EXPECT_EQ(target_->end().error(), 0);
}

INSTANTIATE_TEST_SUITE_P(Digests, SessionFarewell, testing::Bool());

TEST_F(SessionEnding, TellsTheTargetOnceOnly) {
    open();
    ASSERT_TRUE(session_->log_out());
    session_->flush();
    receive(Opcode::logout);
    session_->close({0, {}}, net::Stream::Ending::orderly);
    session_->close({0, {}}, net::Stream::Ending::orderly);
    ASSERT_TRUE(run_until_closed());
    EXPECT_FALSE(target_->next());
}

TEST_F(SessionEnding, TellsTheTargetNothingInTheMiddleOfWhatIsOnItsWay) {
    open({.parameters = {.max_send_data = 4 * 1024 * 1024,
                         .max_burst = 4 * 1024 * 1024,
                         .first_burst = 4 * 1024 * 1024},
          .buffer = 16 * 1024});
    Bytes buffer(4 * 1024 * 1024);
    target_->end().set_reading(false);
    submit_write(buffer);
    session_->flush();
    settle();
    session_->close({0, {}}, net::Stream::Ending::orderly);
    ASSERT_TRUE(run_until_closed());
    target_->end().set_reading(true);
    ASSERT_TRUE(run_until([this] { return target_->end().ended(); }));
    EXPECT_FALSE(target_->next()) << "part of a write, and nothing else";
}

TEST_F(SessionEnding, ByAbortIsAResetForTheTarget) {
    open();
    session_->close({ECANCELED, "enough"}, net::Stream::Ending::abort);
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->text, "enough");
    EXPECT_TRUE(run_until([this] { return target_->end().ended(); }));
    EXPECT_EQ(target_->end().error(), ECONNRESET);
    EXPECT_FALSE(target_->next());
}

/// How much of the data had come: in staging, on its way to where it belongs, and just short of the end.
class SessionEndingInData : public SessionTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(SessionEndingInData, LosesTheCommandAndLeavesItsBufferAlone) {
    open({.parameters = {.max_receive_data = 262144}});
    {
        auto buffer = std::make_unique<Bytes>(128 * 1024);
        const Bytes stream = target_->answer_read(start_read(*buffer), pattern(buffer->size()));
        target_->send(slice(stream, 0, GetParam()));
        settle();
        target_->end().close();
        ASSERT_TRUE(run_until_closed());
        ASSERT_EQ(done_.size(), 1U);
        EXPECT_TRUE(done_[0].end.lost);
    }
    session_.reset();
    settle(); // under asan: nobody looks at the session or the buffer any more
}

INSTANTIATE_TEST_SUITE_P(Bytes, SessionEndingInData,
                         testing::Values(47, 48, 49, 96, 97, 20'000, 64'000, 128 * 1024 - 1,
                                         128 * 1024 + 47));

TEST_F(SessionEnding, WhileDataGoesOutReleasesTheBufferBeforeItSaysSo) {
    open({.parameters = {.max_send_data = 4096, .max_burst = 4 * 1024 * 1024, .immediate_data = false},
          .buffer = 16 * 1024});
    {
        auto buffer = std::make_unique<Bytes>(pattern(4 * 1024 * 1024));
        const auto tag = start_write(*buffer);
        target_->end().set_reading(false);
        target_->send(target_->r2t(tag, 1, 0, static_cast<std::uint32_t>(buffer->size())));
        settle();
        session_->close({ETIMEDOUT, "too slow"}, net::Stream::Ending::abort);
        ASSERT_TRUE(run_until_closed());
        ASSERT_EQ(done_.size(), 1U);
        EXPECT_TRUE(done_[0].end.lost);
    }
    session_.reset();
    settle();
}

// What was never sent can't have been executed; of what was, nobody knows.

class SessionUnsent : public SessionTest {
protected:
    /// Loses the connection; whether the only command can't have been executed.
    bool unsent() {
        session_->close({ECONNRESET, "lost"}, net::Stream::Ending::abort);
        EXPECT_TRUE(run_until_closed());
        EXPECT_EQ(done_.size(), 1U);
        EXPECT_TRUE(done_[0].end.lost);
        return done_[0].end.unsent;
    }
};

TEST_F(SessionUnsent, IsACommandThatWaitsInTheOpenBatch) {
    open();
    Bytes buffer(4096);
    submit_write(buffer);
    EXPECT_TRUE(unsent());
}

TEST_F(SessionUnsent, IsAFlushThatWaitsInTheOpenBatch) {
    open();
    submit(Transfer::none, nullptr, 0);
    EXPECT_TRUE(unsent());
}

TEST_F(SessionUnsent, IsNotACommandThatHasLeft) {
    open();
    start_flush();
    EXPECT_FALSE(unsent());
}

TEST_F(SessionUnsent, IsAWriteNoneOfWhoseDataWasAskedFor) {
    open({.parameters = {.immediate_data = false}});
    Bytes buffer(4096);
    start_write(buffer);
    EXPECT_TRUE(unsent());
}

TEST_F(SessionUnsent, IsNotAWriteThatHasLeftWithItsData) {
    open();
    Bytes buffer(4096);
    start_write(buffer);
    EXPECT_FALSE(unsent());
}

TEST_F(SessionUnsent, IsNotAWritePartOfWhoseDataHasLeft) { // a device may write that before it asks for more
    open({.parameters = {.immediate_data = false}});
    Bytes buffer(4096);
    const auto tag = start_write(buffer);
    target_->send(target_->r2t(tag, 1, 0, 512));
    receive(Opcode::data_out);
    EXPECT_FALSE(unsent());
}

TEST_F(SessionEnding, FromInsideACompletionEndsTheOthersOnce) {
    class Closer final : public SessionClient {
    public:
        Session* session = nullptr;
        int done = 0;
        int lost = 0;
        int closed = 0;

    private:
        void on_command_done(const CommandEnd& end) noexcept override {
            ++done;
            lost += end.lost ? 1 : 0;
            session->close({ECANCELED, "seen enough"}, net::Stream::Ending::abort);
        }
        void on_room() noexcept override {}
        void on_async(const AsyncEvent&) noexcept override {}
        void on_session_closed(const Error&) noexcept override { ++closed; }
    } closer;
    auto made = net::make_reactor(clock_, 64);
    ASSERT_TRUE(made);
    reactor_ = std::move(*made);
    auto pair = net::test::make_socket_pair();
    target_.emplace(std::move(pair.theirs), SessionParameters{}, kNumbers);
    LoggedIn logged_in;
    logged_in.socket = std::move(pair.ours);
    logged_in.numbers = kNumbers;
    Session session(*reactor_, std::move(logged_in), 8, closer);
    closer.session = &session;
    for (int i = 0; i < 3; ++i) {
        session.submit({}, kLun, Transfer::none, nullptr, 0, nullptr);
    }
    session.flush();
    Bytes answers;
    for (int i = 0; i < 3; ++i) {
        answers = answers + target_->response(receive(Opcode::scsi_command).tag());
    }
    target_->send(answers);
    ASSERT_TRUE(run_until([&] { return closer.closed > 0; }));
    EXPECT_EQ(closer.done, 3);
    EXPECT_EQ(closer.lost, 2);
    EXPECT_EQ(closer.closed, 1);
}

} // namespace
} // namespace mpath::iscsi::test
