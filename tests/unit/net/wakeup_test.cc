// SPDX-License-Identifier: GPL-2.0-only
#include "net/wakeup.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mpath::net {
namespace {

class WakeupTest : public testing::Test {
protected:
    void SetUp() override {
        auto reactor = make_reactor(clock_, 8);
        ASSERT_TRUE(reactor) << reactor.error().text;
        reactor_ = std::move(*reactor);
        auto wakeup = Wakeup::create(*reactor_);
        ASSERT_TRUE(wakeup) << wakeup.error().text;
        wakeup_ = std::move(*wakeup);
    }
    void TearDown() override { reactor_.reset(); }

    SystemClock clock_;
    std::unique_ptr<Wakeup> wakeup_; ///< goes after the reactor, which may still read into it
    std::unique_ptr<Reactor> reactor_;
};

TEST_F(WakeupTest, RunsTasksOfOtherThreadsOnTheReactorsThread) {
    constexpr int kThreads = 4;
    constexpr int kTasks = 250;
    const auto here = std::this_thread::get_id();
    int ran = 0; // not atomic: tsan sees whether it is touched by one thread only
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            for (int task = 0; task < kTasks; ++task) {
                wakeup_->post([&] {
                    EXPECT_EQ(std::this_thread::get_id(), here);
                    ++ran;
                });
            }
        });
    }
    for (int i = 0; i < 10'000 && ran < kThreads * kTasks; ++i) {
        reactor_->run(kMillisecond);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(ran, kThreads * kTasks);
}

TEST_F(WakeupTest, KeepsTheOrderOfOneThread) {
    std::vector<int> order;
    for (int i = 0; i < 5; ++i) {
        wakeup_->post([&order, i] { order.push_back(i); });
    }
    for (int i = 0; i < 100 && order.size() < 5; ++i) {
        reactor_->run(kMillisecond);
    }
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(WakeupTest, TaskMayPostAnother) {
    bool second = false;
    wakeup_->post([&] { wakeup_->post([&] { second = true; }); });
    for (int i = 0; i < 100 && !second; ++i) {
        reactor_->run(kMillisecond);
    }
    EXPECT_TRUE(second);
}

TEST_F(WakeupTest, EndsALongWait) {
    bool woken = false;
    std::thread other([&] { wakeup_->post([&] { woken = true; }); });
    while (!woken) {
        reactor_->run(60 * kSecond); // CTest's limit is shorter than that
    }
    other.join();
}

} // namespace
} // namespace mpath::net
