// SPDX-License-Identifier: GPL-2.0-only
// The contract of Reactor, on every backend.
#include "net/reactor.h"

#include <sys/eventfd.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "tests/unit/net/backends.h"
#include "tests/unit/net/socket_pair.h"

namespace mpath::net {
namespace {

using test::Counted;
using test::Message;

class ReactorTest : public test::BackendTest {};
INSTANTIATE_ON_EVERY_BACKEND(ReactorTest);

TEST_P(ReactorTest, NamesItsBackend) {
    EXPECT_EQ(reactor_->backend(), GetParam());
}

TEST_P(ReactorTest, RunWithoutWaitingReturnsWithNothing) {
    reactor_->run(0);
    EXPECT_EQ(reactor_->system_calls(), 0U) << "nothing is staged, nobody is asked";
}

TEST_P(ReactorTest, RunsTimersThatAreDueAndWaitsNoLongerThanForThem) {
    int fired = 0;
    reactor_->timers().add(clock_.now(), [&] { ++fired; });
    reactor_->timers().add(clock_.now() + 5 * kMillisecond, [&] { ++fired; });
    while (fired < 2) {
        reactor_->run(60 * kSecond);
    }
    EXPECT_EQ(fired, 2);
}

TEST_P(ReactorTest, MayBeGivenMoreOperationsThanItHasRoomFor) {
    auto pair = test::make_socket_pair();
    std::array<Counted, 200> many;
    std::byte byte{};
    Message message(&byte, 1);
    for (Counted& counted : many) {
        reactor_->send(counted.operation, pair.ours.get(), &message.header);
    }
    for (const Counted& counted : many) {
        ASSERT_TRUE(run_until([&] { return counted.ended(); }));
        EXPECT_EQ(counted.calls, 1);
        EXPECT_EQ(counted.result, 1);
    }
}

TEST_P(ReactorTest, ArrivalIsNeverBeforeTheRunThatDispatched) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    for (int i = 0; i < 20; ++i) {
        Counted counted;
        std::byte byte{1};
        Message message(&byte, 1);
        reactor_->receive(counted.operation, pair.ours.get(), &message.header, 0);
        far.send({&byte, 1});
        const Nanoseconds before = clock_.now();
        ASSERT_TRUE(run_until([&] { return counted.ended(); }));
        EXPECT_GE(reactor_->arrival(), before);
        EXPECT_LE(reactor_->arrival(), clock_.now());
    }
}

// ---- whole messages

TEST_P(ReactorTest, SendEndsOnceWithTheWholeMessageThoughThePeerMakesRoomByAndBy) {
    auto pair = test::make_socket_pair(128 * 1024); // io_uring waits 128 times for room at most
    test::FarEnd far(std::move(pair.theirs));
    std::vector<std::byte> bytes(3'000'000);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    }
    std::array<iovec, 3> pieces{{{&bytes[0], 1}, {&bytes[1], 999'999}, {&bytes[1'000'000], 2'000'000}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    Counted send;
    reactor_->send(send.operation, pair.ours.get(), &message);
    ASSERT_TRUE(run_until([&] {
        far.pump();
        return send.ended();
    }));
    EXPECT_EQ(send.result, 3'000'000);
    far.pump();
    EXPECT_TRUE(far.received() == bytes);
    EXPECT_EQ(pieces[1].iov_base, &bytes[1]) << "the message is as it was";
    EXPECT_EQ(pieces[2].iov_len, 2'000'000U);
}

TEST_P(ReactorTest, ReceiveOfAllWaitsForTheLastByte) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    std::array<std::byte, 6> bytes{};
    std::array<iovec, 2> pieces{{{&bytes[0], 4}, {&bytes[4], 2}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    Counted receive;
    reactor_->receive(receive.operation, pair.ours.get(), &message, MSG_WAITALL);
    for (int i = 0; i < 6; ++i) {
        for (int run = 0; run < 3; ++run) {
            reactor_->run(kMillisecond);
        }
        EXPECT_FALSE(receive.ended());
        const auto byte = static_cast<std::byte>(i + 1);
        far.send({&byte, 1});
    }
    ASSERT_TRUE(run_until([&] { return receive.ended(); }));
    EXPECT_EQ(receive.result, 6);
    EXPECT_EQ(bytes[0], std::byte{1});
    EXPECT_EQ(bytes[5], std::byte{6});
}

TEST_P(ReactorTest, ReceiveOfAllGivesWhatCameBeforeTheEnd) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    std::array<std::byte, 6> bytes{};
    Message message(bytes.data(), bytes.size());
    Counted receive;
    reactor_->receive(receive.operation, pair.ours.get(), &message.header, MSG_WAITALL);
    reactor_->run(0);
    far.send({bytes.data(), 2});
    reactor_->run(kMillisecond);
    far.close();
    ASSERT_TRUE(run_until([&] { return receive.ended(); }));
    EXPECT_EQ(receive.result, 2);
}

// ---- the peer's ways to end

TEST_P(ReactorTest, PeerThatHalfClosesEndsReceivesButStillGetsWhatIsSent) {
    auto pair = test::make_socket_pair();
    ::shutdown(pair.theirs.get(), SHUT_WR);
    std::array<std::byte, 4> bytes{};
    Message message(bytes.data(), bytes.size());
    Counted receive;
    reactor_->receive(receive.operation, pair.ours.get(), &message.header, 0);
    ASSERT_TRUE(run_until([&] { return receive.ended(); }));
    EXPECT_EQ(receive.result, 0);
    Counted send;
    reactor_->send(send.operation, pair.ours.get(), &message.header);
    ASSERT_TRUE(run_until([&] { return send.ended(); }));
    EXPECT_EQ(send.result, 4);
    test::FarEnd far(std::move(pair.theirs));
    far.pump();
    EXPECT_EQ(far.received().size(), 4U);
}

TEST_P(ReactorTest, ResetEndsAReceiveWithTheKernelsError) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    std::byte byte{};
    Message message(&byte, 1);
    Counted receive;
    reactor_->receive(receive.operation, pair.ours.get(), &message.header, 0);
    reactor_->run(0);
    far.reset();
    ASSERT_TRUE(run_until([&] { return receive.ended(); }));
    EXPECT_EQ(receive.result, -ECONNRESET);
}

TEST_P(ReactorTest, ResetEndsASendThatWaitsForRoom) {
    auto pair = test::make_socket_pair(8 * 1024);
    test::FarEnd far(std::move(pair.theirs));
    std::vector<std::byte> bytes(4'000'000);
    Message message(bytes.data(), bytes.size());
    Counted send;
    reactor_->send(send.operation, pair.ours.get(), &message.header);
    reactor_->run(kMillisecond);
    EXPECT_FALSE(send.ended());
    far.reset();
    ASSERT_TRUE(run_until([&] { return send.ended(); }));
    EXPECT_LT(send.result, 4'000'000) << "what has left, or an error";
    Counted again;
    reactor_->send(again.operation, pair.ours.get(), &message.header);
    ASSERT_TRUE(run_until([&] { return again.ended(); }));
    EXPECT_TRUE(again.result == -EPIPE || again.result == -ECONNRESET) << again.result;
}

TEST_P(ReactorTest, OperationOnNoDescriptorEndsWithAnError) {
    std::byte byte{};
    Message message(&byte, 1);
    const auto address = test::make_socket_pair();
    UniqueFd closed(::dup(address.ours.get()));
    const int fd = closed.get();
    closed.reset();
    std::array<Counted, 3> counted;
    reactor_->receive(counted[0].operation, fd, &message.header, 0);
    reactor_->send(counted[1].operation, fd, &message.header);
    reactor_->read(counted[2].operation, fd, &byte, 1);
    for (const Counted& each : counted) {
        ASSERT_TRUE(run_until([&] { return each.ended(); }));
        EXPECT_EQ(each.result, -EBADF);
    }
}

// ---- cancelling

TEST_P(ReactorTest, CancelledOperationStillEndsOnce) {
    auto pair = test::make_socket_pair();
    Counted counted;
    std::byte byte{};
    Message message(&byte, 1);
    reactor_->receive(counted.operation, pair.ours.get(), &message.header, 0);
    EXPECT_TRUE(counted.operation.pending);
    reactor_->run(0);
    EXPECT_EQ(counted.calls, 0);
    reactor_->cancel(counted.operation);
    ASSERT_TRUE(run_until([&] { return counted.ended(); }));
    EXPECT_EQ(counted.calls, 1);
    EXPECT_EQ(counted.result, -ECANCELED);
    reactor_->run(kMillisecond);
    EXPECT_EQ(counted.calls, 1);
}

TEST_P(ReactorTest, ReadOfAnEventThatIsCancelledEnds) {
    const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
    Counted counted;
    std::uint64_t count = 0;
    reactor_->read(counted.operation, event.get(), &count, sizeof count);
    reactor_->run(0);
    reactor_->cancel(counted.operation);
    ASSERT_TRUE(run_until([&] { return counted.ended(); }));
    EXPECT_EQ(counted.result, -ECANCELED);
}

TEST_P(ReactorTest, SendCancelledBeforeItsFirstRunStillLeaves) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    Counted counted;
    std::byte byte{7};
    Message message(&byte, 1);
    reactor_->send(counted.operation, pair.ours.get(), &message.header);
    reactor_->cancel(counted.operation); // as a stream does that is closed right after a flush
    ASSERT_TRUE(run_until([&] { return counted.ended(); }));
    EXPECT_EQ(counted.result, 1);
    ASSERT_TRUE(run_until([&] {
        far.pump();
        return !far.received().empty();
    }));
}

TEST_P(ReactorTest, CancelledSendThatWaitsForRoomTellsWhatHasLeft) {
    auto pair = test::make_socket_pair(8 * 1024);
    std::vector<std::byte> bytes(4'000'000);
    Message message(bytes.data(), bytes.size());
    Counted counted;
    reactor_->send(counted.operation, pair.ours.get(), &message.header);
    reactor_->run(kMillisecond);
    EXPECT_FALSE(counted.ended());
    reactor_->cancel(counted.operation);
    ASSERT_TRUE(run_until([&] { return counted.ended(); }));
    EXPECT_EQ(counted.calls, 1);
    EXPECT_TRUE(counted.result == -ECANCELED || (counted.result > 0 && counted.result < 4'000'000))
        << counted.result;
}

TEST_P(ReactorTest, CancelOfWhatHasEndedIsNothing) {
    auto pair = test::make_socket_pair();
    Counted counted;
    std::byte byte{};
    Message message(&byte, 1);
    reactor_->send(counted.operation, pair.ours.get(), &message.header);
    ASSERT_TRUE(run_until([&] { return counted.ended(); }));
    reactor_->cancel(counted.operation);
    reactor_->run(0);
    reactor_->run(kMillisecond);
    EXPECT_EQ(counted.calls, 1);
}

// ---- calls back

/// Does something when it ends, besides counting.
struct Acting {
    Operation operation;
    std::function<void()> act;
    int calls = 0;

    Acting() {
        operation.owner = this;
        operation.done = [](Operation& ended, int /*result*/) noexcept {
            auto& self = *static_cast<Acting*>(ended.owner);
            ++self.calls;
            self.act();
        };
    }
};

TEST_P(ReactorTest, OperationStagedByACallBackWaitsForTheNextRun) {
    auto pair = test::make_socket_pair();
    std::byte byte{};
    Message message(&byte, 1);
    Acting sender;
    bool inside = false;
    sender.act = [&] {
        EXPECT_FALSE(inside) << "recursion";
        inside = true;
        reactor_->send(sender.operation, pair.ours.get(), &message.header);
        inside = false;
    };
    reactor_->send(sender.operation, pair.ours.get(), &message.header);
    ASSERT_TRUE(run_until([&] { return sender.calls > 0; }));
    const int calls = sender.calls;
    EXPECT_EQ(calls, 1) << "a run ends, whatever its call backs stage";
    ASSERT_TRUE(run_until([&] { return sender.calls >= 100; }));
}

TEST_P(ReactorTest, CallBackMayCancelOneThatEndedInTheSameRun) {
    auto pair = test::make_socket_pair();
    std::byte byte{};
    Message message(&byte, 1);
    Acting first;
    Acting second;
    first.act = [&] { reactor_->cancel(second.operation); };
    second.act = [&] { reactor_->cancel(first.operation); };
    reactor_->send(first.operation, pair.ours.get(), &message.header);
    reactor_->send(second.operation, pair.ours.get(), &message.header);
    ASSERT_TRUE(run_until([&] { return first.calls > 0 && second.calls > 0; }));
    reactor_->run(0);
    reactor_->run(kMillisecond);
    EXPECT_EQ(first.calls, 1);
    EXPECT_EQ(second.calls, 1);
}

TEST_P(ReactorTest, DescriptorMayBeUsedAgainOnceItsOperationsHaveEnded) {
    std::byte byte{9};
    int number = -1;
    for (int i = 0; i < 10; ++i) {
        auto pair = test::make_socket_pair();
        number = number < 0 ? pair.ours.get() : number;
        EXPECT_EQ(pair.ours.get(), number);
        test::FarEnd far(std::move(pair.theirs));
        Counted receive;
        Message message(&byte, 1);
        reactor_->receive(receive.operation, number, &message.header, 0);
        reactor_->run(0);
        if (i % 2 == 0) {
            reactor_->cancel(receive.operation);
        } else {
            far.send({&byte, 1});
        }
        ASSERT_TRUE(run_until([&] { return receive.ended(); }));
        EXPECT_EQ(receive.result, i % 2 == 0 ? -ECANCELED : 1);
    }
}

// ---- events

TEST_P(ReactorTest, ReadOfAnEventNeverBlocks) {
    const UniqueFd event(::eventfd(0, EFD_CLOEXEC)); // a blocking one
    Counted counted;
    std::uint64_t count = 0;
    reactor_->read(counted.operation, event.get(), &count, sizeof count);
    reactor_->run(0);
    reactor_->run(kMillisecond);
    EXPECT_FALSE(counted.ended());
    ::eventfd_write(event.get(), 5);
    ASSERT_TRUE(run_until([&] { return counted.ended(); }));
    EXPECT_EQ(counted.result, 8);
    EXPECT_EQ(count, 5U);
}

TEST_P(ReactorTest, BusySocketKeepsNothingElseWaiting) {
    auto busy = test::make_socket_pair();
    auto quiet = test::make_socket_pair();
    const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
    std::byte byte{};
    Message message(&byte, 1);
    Acting receiver;
    receiver.act = [&] { reactor_->receive(receiver.operation, busy.ours.get(), &message.header, 0); };
    receiver.act();
    Counted received;
    Counted read;
    std::uint64_t count = 0;
    Message other(&byte, 1);
    reactor_->receive(received.operation, quiet.ours.get(), &other.header, 0);
    reactor_->read(read.operation, event.get(), &count, sizeof count);
    Acting sender; // so that no run is without something sent
    sender.act = [&] { reactor_->send(sender.operation, busy.ours.get(), &message.header); };
    sender.act();
    for (int i = 0; i < 200; ++i) {
        ::send(busy.theirs.get(), &byte, 1, 0);
        reactor_->run(0);
    }
    ::send(quiet.theirs.get(), &byte, 1, 0);
    ::eventfd_write(event.get(), 1);
    for (int i = 0; i < 3; ++i) {
        ::send(busy.theirs.get(), &byte, 1, 0);
        reactor_->run(0);
    }
    EXPECT_EQ(received.calls, 1);
    EXPECT_EQ(read.calls, 1);
}

} // namespace
} // namespace mpath::net
