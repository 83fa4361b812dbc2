// SPDX-License-Identifier: GPL-2.0-only
// What a coroutine waits for, and that every wait ends at its deadline.
#include "net/async.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/net/socket_pair.h"

namespace mpath::net {
namespace {

class Async : public testing::Test {
protected:
    void SetUp() override {
        auto made = make_reactor(clock_, 16);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
    }
    Nanoseconds in(Nanoseconds time) { return clock_.now() + time; }

    SystemClock clock_;
    std::unique_ptr<Reactor> reactor_;
    static constexpr Nanoseconds kLong = 20 * kSecond;
    static constexpr Nanoseconds kShort = 20 * kMillisecond;
};

/// A port of the loopback with a listener, or nobody, behind it.
class Listener {
public:
    Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto address = resolve("127.0.0.1", 0)->front();
        ::bind(fd_.get(), address.get(), address.length);
        port_ = resolve("127.0.0.1", 0)->front();
        ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&port_.storage), &port_.length);
    }
    void listen(int backlog = 4) { ::listen(fd_.get(), backlog); }
    [[nodiscard]] const SocketAddress& address() const { return port_; }

private:
    UniqueFd fd_;
    SocketAddress port_;
};

/// A listener that answers nobody: it lets fewer wait than want to, and the kernel drops whoever comes then.
class SilentListener : public Listener {
public:
    SilentListener() {
        listen(0);
        for (UniqueFd& caller : callers_) {
            caller = std::move(*make_tcp_socket(AF_INET));
            ::connect(caller.get(), address().get(), address().length);
        }
    }

private:
    std::array<UniqueFd, 4> callers_;
};

TEST_F(Async, ConnectGivesAConnectedSocket) {
    Listener listener;
    listener.listen();
    const std::array addresses{listener.address()};
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {}, in(kLong)));
    ASSERT_TRUE(fd) << fd.error().text;
    EXPECT_EQ(peer_address(fd->get()), listener.address().text());
}

TEST_F(Async, ConnectToAPortWithoutListenerIsRefusedByName) {
    Listener nobody;
    const std::array addresses{nobody.address()};
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {}, in(kLong)));
    ASSERT_FALSE(fd);
    EXPECT_EQ(fd.error().code, ECONNREFUSED);
    EXPECT_EQ(fd.error().text, "no connection to " + nobody.address().text() + ": Connection refused");
}

TEST_F(Async, ConnectGoesOnToTheNextAddress) {
    Listener nobody;
    Listener somebody;
    somebody.listen();
    const std::array addresses{nobody.address(), somebody.address()};
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {}, in(kLong)));
    ASSERT_TRUE(fd) << fd.error().text;
    EXPECT_EQ(peer_address(fd->get()), somebody.address().text());
}

TEST_F(Async, ConnectThatNobodyAnswersEndsAtItsDeadline) {
    SilentListener listener;
    const std::array addresses{listener.address()};
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {}, in(kShort)));
    ASSERT_FALSE(fd);
    EXPECT_EQ(fd.error().code, ETIMEDOUT);
    EXPECT_EQ(fd.error().text, "no connection to " + listener.address().text() + ": Connection timed out");
}

TEST_F(Async, ConnectLeavesTimeForTheAddressesBehindASilentOne) {
    SilentListener silent;
    Listener somebody;
    somebody.listen();
    const std::array addresses{silent.address(), silent.address(), somebody.address()};
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {}, in(600 * kMillisecond)));
    ASSERT_TRUE(fd) << fd.error().text;
    EXPECT_EQ(peer_address(fd->get()), somebody.address().text());
}

TEST_F(Async, ConnectComesFromTheSourceAskedFor) {
    Listener listener;
    listener.listen();
    const std::array addresses{listener.address()};
    const SocketOptions options{.source = "127.0.0.77", .interface = "lo", .tos = 0x20};
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, addresses, options, in(kLong)));
    ASSERT_TRUE(fd) << fd.error().text;
    EXPECT_EQ(local_address(fd->get()).find("127.0.0.77:"), 0U) << local_address(fd->get());
}

TEST_F(Async, ConnectPassesOverAddressesOfAnotherFamilyThanItsSource) {
    Listener listener;
    listener.listen();
    const std::array addresses{resolve("::1", 9)->front(), listener.address()};
    const auto fd =
        run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {"127.0.0.1", "", {}}, in(kLong)));
    ASSERT_TRUE(fd) << fd.error().text;
    EXPECT_EQ(peer_address(fd->get()), listener.address().text());
}

TEST_F(Async, ConnectFromASourceThatFitsNoAddressSaysSo) {
    const std::array addresses{resolve("::1", 9)->front()};
    const auto fd =
        run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {"127.0.0.1", "", {}}, in(kLong)));
    ASSERT_FALSE(fd);
    EXPECT_EQ(fd.error().code, EAFNOSUPPORT);
    EXPECT_EQ(fd.error().text,
              "[::1]:9 can't be reached from host_traddr=127.0.0.1: one is IPv6, the other IPv4");
}

TEST_F(Async, ConnectThroughADeviceThatIsNotThereNamesIt) {
    Listener listener;
    listener.listen();
    const std::array addresses{listener.address()};
    const auto fd =
        run_until_done(*reactor_, connect_tcp(*reactor_, addresses, {"", "nodev9", {}}, in(kLong)));
    ASSERT_FALSE(fd);
    EXPECT_EQ(fd.error().code, ENODEV);
    EXPECT_EQ(fd.error().text, "host_iface=nodev9: this host has no such device");
}

TEST_F(Async, ConnectWithoutAddressesFails) {
    const auto fd = run_until_done(*reactor_, connect_tcp(*reactor_, {}, {}, in(kLong)));
    ASSERT_FALSE(fd);
    EXPECT_EQ(fd.error().code, EHOSTUNREACH);
}

TEST_F(Async, ReceiveEndsAtItsDeadline) {
    auto pair = test::make_socket_pair();
    std::array<std::byte, 8> bytes{};
    EXPECT_EQ(run_until_done(*reactor_, receive_all(*reactor_, pair.ours.get(), bytes, in(kShort))),
              ETIMEDOUT);
}

TEST_F(Async, ReceiveCollectsWhatComesInPieces) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    std::array<std::byte, 8> bytes{};
    std::optional<int> result;
    spawn<int>(receive_all(*reactor_, pair.ours.get(), bytes, in(kLong)), [&](int rc) { result = rc; });
    for (int i = 1; i <= 8; ++i) {
        EXPECT_FALSE(result);
        const auto byte = static_cast<std::byte>(i);
        far.send({&byte, 1});
        for (int run = 0; run < 3; ++run) {
            reactor_->run(kMillisecond);
        }
    }
    while (!result) {
        reactor_->run(kMillisecond);
    }
    EXPECT_EQ(*result, 0);
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(bytes[i], static_cast<std::byte>(i + 1));
    }
}

TEST_F(Async, ReceiveTakesNoByteMoreThanAskedFor) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    const std::array<std::byte, 12> sent{std::byte{1}};
    far.send(sent);
    std::array<std::byte, 8> bytes{};
    EXPECT_EQ(run_until_done(*reactor_, receive_all(*reactor_, pair.ours.get(), bytes, in(kLong))), 0);
    std::array<std::byte, 12> rest{};
    EXPECT_EQ(::recv(pair.ours.get(), rest.data(), rest.size(), MSG_DONTWAIT), 4)
        << "they belong to who takes the socket over";
}

TEST_F(Async, ReceiveAtTheEndOfTheStreamIsAReset) {
    auto pair = test::make_socket_pair();
    test::FarEnd far(std::move(pair.theirs));
    const std::array<std::byte, 4> half{};
    far.send(half);
    far.close();
    std::array<std::byte, 8> bytes{};
    EXPECT_EQ(run_until_done(*reactor_, receive_all(*reactor_, pair.ours.get(), bytes, in(kLong))),
              ECONNRESET);
}

TEST_F(Async, SendGoesThroughAFullConnection) {
    auto pair = test::make_socket_pair(16 * 1024);
    test::FarEnd far(std::move(pair.theirs));
    const std::vector<std::byte> bytes(1024 * 1024, std::byte{7});
    std::optional<int> result;
    spawn<int>(send_all(*reactor_, pair.ours.get(), bytes, in(kLong)), [&](int rc) { result = rc; });
    while (!result) {
        far.pump();
        reactor_->run(kMillisecond);
    }
    EXPECT_EQ(*result, 0);
    far.pump();
    EXPECT_EQ(far.received().size(), bytes.size());
}

TEST_F(Async, SendToAPeerThatNeverReadsEndsAtItsDeadline) {
    auto pair = test::make_socket_pair(16 * 1024);
    const std::vector<std::byte> bytes(8 * 1024 * 1024);
    EXPECT_EQ(run_until_done(*reactor_, send_all(*reactor_, pair.ours.get(), bytes, in(kShort))), ETIMEDOUT);
}

TEST_F(Async, SendToAClosedConnectionFails) {
    auto pair = test::make_socket_pair();
    pair.theirs.reset();
    const std::vector<std::byte> bytes(4096);
    int result = 0;
    for (int i = 0; i < 100 && result == 0; ++i) {
        result = run_until_done(*reactor_, send_all(*reactor_, pair.ours.get(), bytes, in(kLong)));
    }
    EXPECT_TRUE(result == EPIPE || result == ECONNRESET) << result;
}

TEST_F(Async, SleepEndsNotBeforeItsTime) {
    const Nanoseconds until = in(kShort);
    const auto sleeper = [](Reactor& reactor, Nanoseconds deadline) -> Task<int> {
        co_await sleep_until(reactor, deadline);
        co_return 5;
    };
    EXPECT_EQ(run_until_done(*reactor_, sleeper(*reactor_, until)), 5);
    EXPECT_GE(clock_.now(), until);
}

TEST_F(Async, EventResumesWhoWaitsAndWhoComesLate) {
    Event<int> event;
    const auto waiter = [](Event<int>& awaited) -> Task<int> { co_return co_await awaited; };
    int early = 0;
    spawn<int>(waiter(event), [&](int value) { early = value; });
    EXPECT_EQ(early, 0);
    EXPECT_FALSE(event.is_set());
    event.set(42);
    EXPECT_EQ(early, 42);
    Event<int> other;
    other.set(43);
    int late = 0;
    spawn<int>(waiter(other), [&](int value) { late = value; });
    EXPECT_EQ(late, 43);
}

// ---- ended by somebody else

TEST_F(Async, receiving_can_be_cancelled) {
    const auto pair = test::make_socket_pair();
    Cancellation cancellation;
    std::array<std::byte, 8> bytes{};
    std::optional<int> result;
    spawn<int>(receive_all(*reactor_, pair.ours.get(), bytes, in(kLong), &cancellation),
               [&](int rc) { result = rc; });
    reactor_->run(0);
    cancellation.request();
    while (!result) {
        reactor_->run(kMillisecond);
    }
    EXPECT_EQ(result, ECANCELED);
    EXPECT_EQ(
        run_until_done(*reactor_, send_all(*reactor_, pair.ours.get(), bytes, in(kLong), &cancellation)),
        ECANCELED)
        << "and nothing is begun afterwards";
}

TEST_F(Async, connecting_can_be_cancelled) {
    const SilentListener silent;
    Cancellation cancellation;
    const std::array addresses{silent.address(), silent.address()};
    std::optional<Result<UniqueFd>> result;
    spawn<Result<UniqueFd>>(connect_tcp(*reactor_, addresses, {}, in(kLong), &cancellation),
                            [&](Result<UniqueFd> fd) { result.emplace(std::move(fd)); });
    reactor_->run(0);
    cancellation.request();
    while (!result) {
        reactor_->run(kMillisecond);
    }
    ASSERT_FALSE(*result);
    EXPECT_EQ(result->error().code, ECANCELED);
}

} // namespace
} // namespace mpath::net
