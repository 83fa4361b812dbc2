// SPDX-License-Identifier: GPL-2.0-only
#include "net/reactor.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "tests/unit/net/socket_pair.h"

namespace mpath::net {
namespace {

class ReactorTest : public testing::Test {
protected:
    struct Counted {
        Operation operation;
        int calls = 0;
        int result = 0;

        Counted() {
            operation.owner = this;
            operation.done = [](Operation& ended, int outcome) noexcept {
                auto& self = *static_cast<Counted*>(ended.owner);
                EXPECT_FALSE(ended.pending);
                ++self.calls;
                self.result = outcome;
            };
        }
    };

    void SetUp() override {
        auto made = make_reactor(clock_, 8);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
    }
    void run_until_ended(const Counted& counted) {
        for (int i = 0; i < 1000 && counted.calls == 0; ++i) {
            reactor_->run(kMillisecond);
        }
    }

    SystemClock clock_;
    std::unique_ptr<Reactor> reactor_;
};

TEST_F(ReactorTest, RunWithoutWaitingReturnsWithNothing) {
    reactor_->run(0);
    EXPECT_LE(reactor_->system_calls(), 1U);
    EXPECT_EQ(reactor_->backend(), "io_uring");
}

TEST_F(ReactorTest, RunsTimersThatAreDueAndWaitsNoLongerThanForThem) {
    int fired = 0;
    reactor_->timers().add(clock_.now(), [&] { ++fired; });
    reactor_->timers().add(clock_.now() + 5 * kMillisecond, [&] { ++fired; });
    while (fired < 2) {
        reactor_->run(60 * kSecond);
    }
    EXPECT_EQ(fired, 2);
}

TEST_F(ReactorTest, CancelledOperationStillEndsOnce) {
    auto pair = test::make_socket_pair();
    Counted counted;
    std::byte byte{};
    iovec piece{&byte, 1};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    reactor_->receive(counted.operation, pair.ours.get(), &message, 0);
    EXPECT_TRUE(counted.operation.pending);
    reactor_->run(0);
    EXPECT_EQ(counted.calls, 0);
    reactor_->cancel(counted.operation);
    run_until_ended(counted);
    EXPECT_EQ(counted.calls, 1);
    EXPECT_EQ(counted.result, -ECANCELED);
    reactor_->run(kMillisecond);
    EXPECT_EQ(counted.calls, 1);
}

TEST_F(ReactorTest, MayBeGivenMoreOperationsThanItHasRoomFor) {
    auto pair = test::make_socket_pair();
    std::vector<std::unique_ptr<Counted>> many;
    std::vector<std::byte> bytes(64);
    std::vector<iovec> pieces(64);
    std::vector<msghdr> messages(64);
    for (std::size_t i = 0; i < 64; ++i) {
        pieces[i] = {&bytes[i], 1};
        messages[i].msg_iov = &pieces[i];
        messages[i].msg_iovlen = 1;
        many.push_back(std::make_unique<Counted>());
        reactor_->send(many.back()->operation, pair.ours.get(), &messages[i]);
    }
    for (const auto& counted : many) {
        run_until_ended(*counted);
        EXPECT_EQ(counted->calls, 1);
        EXPECT_EQ(counted->result, 1);
    }
}

TEST_F(ReactorTest, OperationsStagedTogetherLeaveInOneSystemCall) {
    auto pair = test::make_socket_pair();
    std::array<Counted, 4> sends;
    std::byte byte{};
    iovec piece{&byte, 1};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    const auto before = reactor_->system_calls();
    for (Counted& send : sends) {
        reactor_->send(send.operation, pair.ours.get(), &message);
    }
    EXPECT_EQ(reactor_->system_calls(), before) << "staging makes none";
    reactor_->run(0);
    EXPECT_EQ(reactor_->system_calls(), before + 1);
    for (const Counted& send : sends) {
        EXPECT_EQ(send.calls, 1);
    }
}

TEST_F(ReactorTest, ArrivalIsNeverBeforeTheRunThatDispatched) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    for (int i = 0; i < 20; ++i) {
        Counted counted;
        std::byte byte{1};
        iovec piece{&byte, 1};
        msghdr message{};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        reactor_->receive(counted.operation, pair.ours.get(), &message, 0);
        far.send({&byte, 1});
        const Nanoseconds before = clock_.now();
        run_until_ended(counted);
        EXPECT_GE(reactor_->arrival(), before);
        EXPECT_LE(reactor_->arrival(), clock_.now());
    }
}

} // namespace
} // namespace mpath::net
