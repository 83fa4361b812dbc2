// SPDX-License-Identifier: GPL-2.0-only
// Slots: how many commands can be outstanding, and how a late answer to an earlier one is told from that to
// its successor.
#include <set>

#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

class QueueSlot : public QueueTest {};

TEST_F(QueueSlot, OneLessThanTheQueueSizeCanBeOutstanding) {
    open({.size = 4});
    std::set<std::uint16_t> cids;
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(queue_->full());
        EXPECT_LT(queue_->next_slot(), 3);
        cids.insert(start(Transfer::none, nullptr, 0));
    }
    EXPECT_EQ(cids.size(), 3U);
    EXPECT_TRUE(queue_->full());
    EXPECT_EQ(queue_->outstanding(), 3U);

    controller_->send(response(*cids.begin()));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_FALSE(queue_->full());
    EXPECT_EQ(queue_->outstanding(), 2U);
    EXPECT_EQ(queue_->next_slot(), *cids.begin()) << "the slot that was freed";
}

TEST_F(QueueSlot, CanBeTakenAgainFromInsideACompletion) {
    class Chain final : public QueueClient {
    public:
        Queue* queue = nullptr;
        int left = 100;
        int done = 0;
        bool closed = false;

    private:
        void on_command_done(const Completion& completion) noexcept override {
            ++done;
            if (!completion.lost && --left > 0) {
                EXPECT_FALSE(queue->full());
                queue->submit({}, Transfer::none, nullptr, 0, nullptr);
                queue->flush();
            }
        }
        void on_sent() noexcept override {}
        void on_queue_closed(const Error&) noexcept override { closed = true; }
    } chain;
    auto made = net::make_reactor(clock_, 64);
    ASSERT_TRUE(made);
    reactor_ = std::move(*made);
    auto pair = net::test::make_socket_pair();
    controller_.emplace(std::move(pair.theirs));
    Queue queue(*reactor_, std::move(pair.ours), {.size = 2}, chain);
    chain.queue = &queue;
    queue.submit({}, Transfer::none, nullptr, 0, nullptr);
    queue.flush();
    for (int i = 0; i < 100; ++i) {
        controller_->send(response(receive_pdu().as<CapsuleCmd>().sqe.cid));
    }
    EXPECT_TRUE(run_until([&] { return chain.done == 100; }));
    queue.close({0, {}}, net::Stream::Ending::orderly);
    EXPECT_TRUE(run_until([&] { return chain.closed; }));
}

TEST_F(QueueSlot, ReusedHasAnotherIdentifierForSixteenUses) {
    open({.size = 2});
    std::set<std::uint16_t> cids;
    for (std::size_t i = 0; i < 16; ++i) {
        const auto cid = start(Transfer::none, nullptr, 0);
        EXPECT_TRUE(cids.insert(cid).second) << "identifier " << cid;
        controller_->send(response(cid));
        ASSERT_TRUE(run_until_done(i + 1));
    }
    EXPECT_EQ(start(Transfer::none, nullptr, 0), *cids.begin()) << "four bits of generation";
}

TEST_F(QueueSlot, IsNotEndedByALateAnswerToItsPredecessor) {
    open({.size = 2});
    const auto first = start(Transfer::none, nullptr, 0);
    controller_->send(response(first));
    ASSERT_TRUE(run_until_done(1));
    start(Transfer::none, nullptr, 0);
    controller_->send(response(first));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_NE(closed_->text.find("completion for a command that is not outstanding"), std::string::npos);
    ASSERT_EQ(done_.size(), 2U);
    EXPECT_TRUE(done_[1].lost);
}

TEST_F(QueueSlot, IsNotFilledWithLateDataOfItsPredecessor) {
    open({.size = 2});
    Bytes first(512);
    const auto cid = start_read(first);
    controller_->send(response(cid, Status(StatusCode::internal_error)));
    ASSERT_TRUE(run_until_done(1));
    Bytes second(512);
    start_read(second);
    controller_->send(c2h_data(cid, 0, pattern(512), pdu_flag::kLastPdu | pdu_flag::kSuccess));
    ASSERT_TRUE(run_until([this] { return closed_.has_value(); }));
    EXPECT_EQ(second, Bytes(512));
    EXPECT_TRUE(done_[1].lost);
}

TEST_F(QueueSlot, SendBatchThatIsFullMakesTheQueueFullUntilItHasLeft) {
    open({.size = 4096});
    std::uint32_t submitted = 0;
    while (!queue_->full()) {
        queue_->submit({}, Transfer::none, nullptr, 0, nullptr);
        ++submitted;
    }
    EXPECT_LT(submitted, 4095U);
    queue_->flush();
    EXPECT_FALSE(queue_->full()) << "the other batch is free while this one leaves";
    while (!queue_->full()) {
        queue_->submit({}, Transfer::none, nullptr, 0, nullptr);
        ++submitted;
    }
    EXPECT_EQ(batches_sent_, 0);
    queue_->flush();
    ASSERT_TRUE(run_until([this] { return batches_sent_ == 2; }));
    EXPECT_FALSE(queue_->full());
    for (std::uint32_t i = 0; i < submitted; ++i) {
        ASSERT_EQ(receive_pdu().type(), PduType::capsule_cmd);
    }
}

TEST_F(QueueSlot, ManyCommandsOfOneFlushAreOneBatch) {
    open({.size = 64});
    Bytes buffer(4096);
    for (int i = 0; i < 32; ++i) {
        queue_->submit({}, Transfer::to_controller, buffer.data(), 4096, nullptr);
    }
    queue_->flush();
    for (int i = 0; i < 32; ++i) {
        EXPECT_EQ(receive_pdu().payload().size(), 4096U);
    }
    ASSERT_TRUE(run_until([this] { return batches_sent_ > 0; }));
    EXPECT_EQ(batches_sent_, 1);
    EXPECT_EQ(queue_->statistics().pdus_sent, 32U);
}

} // namespace
} // namespace mpath::nvme::test
