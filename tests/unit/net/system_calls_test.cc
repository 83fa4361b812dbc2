// SPDX-License-Identifier: GPL-2.0-only
// How many system calls each backend makes, which is what an I/O costs most.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "tests/unit/net/backends.h"
#include "tests/unit/net/socket_pair.h"

namespace mpath::net {
namespace {

using test::Counted;
using test::Message;

class SystemCalls : public test::BackendTest {
protected:
    struct Receiver {
        Operation operation;
        std::function<void()> stage;
        int bytes = 0;

        Receiver() {
            operation.owner = this;
            operation.done = [](Operation& ended, int result) noexcept {
                auto& self = *static_cast<Receiver*>(ended.owner);
                self.bytes += result;
                self.stage();
            };
        }
    };

    void SetUp() override {
        BackendTest::SetUp();
        if (reactor_ == nullptr) {
            return;
        }
        receiver_.stage = [this] {
            reactor_->receive(receiver_.operation, pair_.ours.get(), &incoming_.header, 0);
        };
        receiver_.stage();
    }
    /// Returns when it has arrived, so that what is counted does not depend on how busy the machine is.
    void answer(std::size_t count) {
        ::send(pair_.theirs.get(), bytes_.data(), count, 0);
        pollfd arrived{pair_.ours.get(), POLLIN, 0};
        ::poll(&arrived, 1, -1);
    }
    std::uint64_t calls_of(const std::function<void()>& action) {
        const auto before = reactor_->system_calls();
        action();
        return reactor_->system_calls() - before;
    }

    std::array<std::byte, 4096> bytes_{};
    test::SocketPair pair_ = test::make_socket_pair();
    Message incoming_{bytes_.data(), bytes_.size()};
    Message outgoing_{bytes_.data(), 24};
    Receiver receiver_;
};
INSTANTIATE_ON_EVERY_BACKEND(SystemCalls);

TEST_P(SystemCalls, StagingMakesNone) {
    Counted send;
    EXPECT_EQ(calls_of([&] { reactor_->send(send.operation, pair_.ours.get(), &outgoing_.header); }), 0U);
    EXPECT_EQ(calls_of([&] { reactor_->cancel(send.operation); }), 0U);
    ASSERT_TRUE(run_until([&] { return send.ended(); }));
}

TEST_P(SystemCalls, OperationsStagedTogetherLeaveTogether) {
    std::array<Counted, 4> sends;
    for (Counted& send : sends) {
        reactor_->send(send.operation, pair_.ours.get(), &outgoing_.header);
    }
    EXPECT_EQ(calls_of([&] { reactor_->run(0); }), polls() ? 4U : 1U);
    for (const Counted& send : sends) {
        EXPECT_EQ(send.calls, 1);
    }
}

/// One request, one answer, waiting in between: poll sends, waits and receives; io_uring does all at once.
TEST_P(SystemCalls, ExchangeAtDepthOne) {
    constexpr int kExchanges = 200;
    const auto calls = calls_of([&] {
        for (int i = 1; i <= kExchanges; ++i) {
            Counted send;
            reactor_->send(send.operation, pair_.ours.get(), &outgoing_.header);
            reactor_->run(0);
            EXPECT_TRUE(send.ended());
            answer(16);
            while (receiver_.bytes < 16 * i) {
                reactor_->run(kSecond);
            }
        }
    });
    EXPECT_LE(calls, polls() ? kExchanges * 3 + kExchanges / 20 : kExchanges * 2);
}

/// While answers are there whenever it looks, nobody is asked whether they are.
TEST_P(SystemCalls, ExchangeOfManyAnswersAtOnce) {
    constexpr int kBatches = 200;
    answer(16);
    ASSERT_TRUE(run_until([&] { return receiver_.bytes > 0; }));
    receiver_.bytes = 0;
    const auto calls = calls_of([&] {
        for (int i = 1; i <= kBatches; ++i) {
            answer(32 * 24); // to the batch before
            Counted send;
            reactor_->send(send.operation, pair_.ours.get(), &outgoing_.header);
            while (receiver_.bytes < 32 * 24 * i || !send.ended()) {
                reactor_->run(kSecond);
            }
        }
    });
    EXPECT_LE(calls, kBatches * 2 + 80);
}

TEST_P(SystemCalls, LookingWithoutWaitingIsFreeOnlyWhereTheRingTells) {
    reactor_->run(0); // the receive is on its way
    EXPECT_EQ(calls_of([&] {
                  for (int i = 0; i < 10; ++i) {
                      reactor_->run(0);
                  }
              }),
              polls() ? 10U : 0U);
}

// ---- busy polling

TEST_P(SystemCalls, BusyPollingSeesWhatArrives) {
    reactor_->set_busy_poll(true);
    for (int i = 1; i <= 50; ++i) {
        Counted send;
        reactor_->send(send.operation, pair_.ours.get(), &outgoing_.header);
        ASSERT_TRUE(run_until([&] { return send.ended(); }));
        answer(16);
        while (receiver_.bytes < 16 * i) {
            reactor_->run(60 * kSecond); // CTest's limit is shorter than that
        }
    }
}

TEST_P(SystemCalls, BusyPollingEntersTheKernelSeldomWhereTheRingTells) {
    reactor_->run(0);
    reactor_->set_busy_poll(true);
    const auto calls = calls_of([&] { reactor_->run(5 * kMillisecond); });
    if (polls()) {
        EXPECT_GE(calls, 1U);
    } else {
        EXPECT_LE(calls, 100U) << "one in 50 us, so that others on this core get their turn";
    }
    EXPECT_EQ(receiver_.bytes, 0);
}

TEST_P(SystemCalls, BusyPollingEndsForTimers) {
    reactor_->set_busy_poll(true);
    bool fired = false;
    reactor_->timers().add(clock_.now() + kMillisecond, [&] { fired = true; });
    while (!fired) {
        reactor_->run(60 * kSecond);
    }
}

TEST_P(SystemCalls, BusyPollingSeesCancelledOperations) {
    reactor_->set_busy_poll(true);
    Counted receive;
    auto other = test::make_socket_pair();
    Message message(bytes_.data(), 1);
    reactor_->receive(receive.operation, other.ours.get(), &message.header, 0);
    reactor_->run(0);
    reactor_->cancel(receive.operation);
    while (!receive.ended()) {
        reactor_->run(60 * kSecond);
    }
    EXPECT_EQ(receive.result, -ECANCELED);
}

} // namespace
} // namespace mpath::net
