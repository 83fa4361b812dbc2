// SPDX-License-Identifier: GPL-2.0-only
// The end of a connection: every open command ends as lost, once, and after that nothing touches its buffer.
#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

class QueueEnding : public QueueTest {
protected:
    bool run_until_closed() {
        return run_until([this] { return closed_.has_value(); });
    }
};

TEST_F(QueueEnding, ByTheControllerWithoutCommandsIsAnError) {
    open();
    controller_->end().close();
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->code, ECONNRESET);
    EXPECT_NE(closed_->text.find("the peer closed the connection"), std::string::npos);
    EXPECT_EQ(times_closed_, 1);
    EXPECT_TRUE(queue_->closing());
}

TEST_F(QueueEnding, ByResetNamesIt) {
    open();
    Bytes buffer(4096);
    start_read(buffer);
    controller_->end().reset();
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->code, ECONNRESET);
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].lost);
}

TEST_F(QueueEnding, ByUsIsOrderlyAndLosesOpenCommands) {
    open();
    Bytes buffer(4096);
    start_read(buffer);
    queue_->close({0, {}}, net::Stream::Ending::orderly);
    EXPECT_TRUE(queue_->closing());
    EXPECT_TRUE(done_.empty()) << "the kernel may still hold the buffer";
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->code, 0);
    ASSERT_EQ(done_.size(), 1U);
    EXPECT_TRUE(done_[0].lost);
    EXPECT_TRUE(run_until([this] { return controller_->end().ended(); }));
    EXPECT_EQ(controller_->end().error(), 0);
}

TEST_F(QueueEnding, ByAbortIsAResetForTheController) {
    open();
    queue_->close({ECANCELED, "enough"}, net::Stream::Ending::abort);
    ASSERT_TRUE(run_until_closed());
    EXPECT_EQ(closed_->text, "enough");
    EXPECT_TRUE(run_until([this] { return controller_->end().ended(); }));
    EXPECT_EQ(controller_->end().error(), ECONNRESET);
}

/// How much of the payload had come: in staging, on its way to where it belongs, and just short of the end.
class QueueEndingInPayload : public QueueTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(QueueEndingInPayload, LosesTheCommandAndLeavesItsBufferAlone) {
    open();
    {
        auto buffer = std::make_unique<Bytes>(128 * 1024);
        const Bytes stream = c2h_data(start_read(*buffer), 0, pattern(buffer->size()), pdu_flag::kLastPdu);
        controller_->send(slice(stream, 0, GetParam()));
        settle();
        controller_->end().close();
        ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
        ASSERT_EQ(done_.size(), 1U);
        EXPECT_TRUE(done_[0].lost);
    }
    queue_.reset();
    settle(); // under asan: nobody looks at the queue or the buffer any more
}

INSTANTIATE_TEST_SUITE_P(Bytes, QueueEndingInPayload,
                         testing::Values(23, 24, 25, 48, 49, 20'000, 64'000, 128 * 1024 - 1,
                                         128 * 1024 + 23));

TEST_F(QueueEnding, WhileDataGoesOutReleasesTheBufferBeforeItSaysSo) {
    open({.in_capsule = 0, .max_h2c_data = 4096}, 16 * 1024);
    {
        auto buffer = std::make_unique<Bytes>(pattern(4 * 1024 * 1024));
        const auto cid = start_write(*buffer);
        controller_->end().set_reading(false);
        controller_->send(r2t(cid, 1, 0, static_cast<std::uint32_t>(buffer->size())));
        settle();
        queue_->close({ETIMEDOUT, "too slow"}, net::Stream::Ending::abort);
        ASSERT_TRUE(run_until_closed());
        ASSERT_EQ(done_.size(), 1U);
        EXPECT_TRUE(done_[0].lost);
    }
    queue_.reset();
    settle();
}

TEST_F(QueueEnding, FromInsideACompletionEndsTheOthersOnce) {
    class Closer final : public QueueClient {
    public:
        Queue* queue = nullptr;
        int done = 0;
        int lost = 0;
        int closed = 0;

    private:
        void on_command_done(const Completion& completion) noexcept override {
            ++done;
            lost += completion.lost ? 1 : 0;
            queue->close({ECANCELED, "seen enough"}, net::Stream::Ending::abort);
        }
        void on_sent() noexcept override {}
        void on_queue_closed(const Error&) noexcept override { ++closed; }
    } closer;
    auto made = net::make_reactor(clock_, 64);
    ASSERT_TRUE(made);
    reactor_ = std::move(*made);
    auto pair = net::test::make_socket_pair();
    controller_.emplace(std::move(pair.theirs));
    Queue queue(*reactor_, std::move(pair.ours), {}, closer);
    closer.queue = &queue;
    for (int i = 0; i < 3; ++i) {
        queue.submit({}, Transfer::none, nullptr, 0, nullptr);
    }
    queue.flush();
    Bytes answers;
    for (int i = 0; i < 3; ++i) {
        answers = answers + bytes_of(response(receive_pdu().as<CapsuleCmd>().sqe.cid));
    }
    controller_->send(answers);
    ASSERT_TRUE(run_until([&] { return closer.closed > 0; }));
    EXPECT_EQ(closer.done, 3);
    EXPECT_EQ(closer.lost, 2);
    EXPECT_EQ(closer.closed, 1);
}

} // namespace
} // namespace mpath::nvme::test
