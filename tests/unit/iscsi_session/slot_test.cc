// SPDX-License-Identifier: GPL-2.0-only
// Slots: how many commands can be outstanding, and how a late answer to an earlier one is told from that to
// its successor.
#include <set>

#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

class SessionSlot : public SessionTest {};

TEST_F(SessionSlot, AsManyCommandsAsAskedForCanBeOutstanding) {
    open({.commands = 3});
    std::set<std::uint32_t> tags;
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(session_->full());
        EXPECT_LT(session_->next_slot(), 3);
        tags.insert(start_flush());
    }
    EXPECT_EQ(tags.size(), 3U);
    EXPECT_TRUE(session_->full());
    EXPECT_EQ(session_->outstanding(), 3U);
    EXPECT_EQ(session_->statistics().window_closed, 0U) << "it is not the target's window that is full";

    target_->send(target_->response(*tags.begin()));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_FALSE(session_->full());
    EXPECT_EQ(session_->next_slot(), *tags.begin()) << "the slot that was freed";
}

TEST_F(SessionSlot, HasANewTagEachTime) {
    open({.commands = 1});
    std::set<std::uint32_t> tags;
    for (std::size_t i = 1; i <= 300; ++i) {
        const auto tag = start_flush();
        EXPECT_TRUE(tags.insert(tag).second);
        target_->send(target_->response(tag));
        ASSERT_TRUE(run_until_done(i));
    }
}

TEST_F(SessionSlot, NeverHasTheTagThatMeansNone) {
    open({.commands = 4096});
    Bytes answers;
    for (std::size_t i = 0; i < 8192; ++i) {
        while (session_->full()) {
            session_->flush();
            settle();
        }
        submit(Transfer::none, nullptr, 0);
        if (i % 128 == 127) {
            session_->flush();
            for (int command = 0; command < 128; ++command) {
                const auto tag = receive(Opcode::scsi_command).tag();
                ASSERT_LT(tag, 0x80000000U) << "the others are those of requests that are no commands";
                answers = answers + target_->response(tag);
            }
            target_->exp_cmd_sn += 128;
            target_->max_cmd_sn += 128;
            target_->send(std::exchange(answers, {}) + target_->news());
        }
    }
    ASSERT_TRUE(run_until_done(8192));
}

TEST_F(SessionSlot, TakesNoAnswerToItsEarlierCommand) {
    open({.commands = 1});
    const auto first = start_flush();
    target_->send(target_->response(first));
    ASSERT_TRUE(run_until_done(1));
    start_flush();
    target_->send(target_->response(first));
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("a response to a command that is not outstanding"), std::string::npos);
    ASSERT_EQ(done_.size(), 2U);
    EXPECT_TRUE(done_[1].end.lost);
}

TEST_F(SessionSlot, IsFreeAlreadyWhenItsCommandIsDone) {
    class Chain final : public SessionClient {
    public:
        Session* session = nullptr;
        int done = 0;
        bool closed = false;

    private:
        void on_command_done(const CommandEnd& end) noexcept override {
            ++done;
            if (!end.lost && done < 10) {
                EXPECT_FALSE(session->full());
                session->submit({}, kLun, Transfer::none, nullptr, 0, nullptr);
                session->flush();
            }
        }
        void on_room() noexcept override {}
        void on_async(const AsyncEvent&) noexcept override {}
        void on_session_closed(const Error&) noexcept override { closed = true; }
    } chain;
    auto made = net::make_reactor(clock_, 64);
    ASSERT_TRUE(made);
    reactor_ = std::move(*made);
    auto pair = net::test::make_socket_pair();
    target_.emplace(std::move(pair.theirs), SessionParameters{}, kNumbers);
    LoggedIn logged_in;
    logged_in.socket = std::move(pair.ours);
    logged_in.numbers = kNumbers;
    Session session(*reactor_, std::move(logged_in), 1, chain);
    chain.session = &session;
    session.submit({}, kLun, Transfer::none, nullptr, 0, nullptr);
    session.flush();
    for (int i = 0; i < 10; ++i) {
        target_->send(target_->response(receive(Opcode::scsi_command).tag()));
    }
    ASSERT_TRUE(run_until([&] { return chain.done == 10; }));
    session.close({0, {}}, net::Stream::Ending::orderly);
    ASSERT_TRUE(run_until([&] { return chain.closed; }));
}

} // namespace
} // namespace mpath::iscsi::test
