// SPDX-License-Identifier: GPL-2.0-only
// The end of a path: whatever was under way or waiting comes back, each request exactly once.
#include <functional>

#include "tests/unit/nvme_queue/io_path_fixture.h"

namespace mpath::nvme::test {
namespace {

struct Loss {
    const char* name;
    std::size_t queues;
    /// Ends the path, or begins to.
    std::function<void(IoPath&, std::vector<std::unique_ptr<ScriptedController>>&)> cause;
    bool told; ///< the listener hears of it
};

const std::vector<Loss> kLosses = {
    {"PeerCloses", 1, [](auto&, auto& controllers) { controllers[0]->end().close(); }, true},
    {"PeerResets", 1, [](auto&, auto& controllers) { controllers[0]->end().reset(); }, true},
    {"PeerBreaksTheProtocol", 1, [](auto&, auto& controllers) { controllers[0]->send(Bytes(24)); }, true},
    {"OneOfThreeQueuesIsLost", 3, [](auto&, auto& controllers) { controllers[1]->end().close(); }, true},
    {"AllThreeQueuesAreLost", 3,
     [](auto&, auto& controllers) {
         for (const auto& controller : controllers) {
             controller->end().reset();
         }
     },
     true},
    {"ClosedInOrder", 1,
     [](auto& path, auto&) {
         path.close({0, {}});
     },
     false},
    {"ClosedInOrderWithThreeQueues", 3,
     [](auto& path, auto&) {
         path.close({0, {}});
     },
     false},
    {"ClosedForAReason", 3,
     [](auto& path, auto&) {
         path.close({ECANCELED, "enough"});
     },
     false},
};

class IoPathLoss : public IoPathTest, public testing::WithParamInterface<Loss> {
protected:
    /// Two commands fit each queue. Whole and split requests, open, half issued and parked ones.
    void fill() {
        open({.queues = GetParam().queues, .queue_size = 3});
        buffer_.resize(10 * 8192);
        for (std::uint32_t i = 0; i < kRequests; ++i) {
            const bool split = i % 3 == 0;
            submit(i, i % 2 == 0 ? Operation::read : Operation::write, 0, split ? 10 * 8192 : 512,
                   buffer_.data());
        }
        path_->flush();
        settle();
        ASSERT_EQ(path_->outstanding(), kRequests);
    }

    void expect_everything_came_back_once() {
        for (std::uint32_t i = 0; i < kRequests; ++i) {
            EXPECT_EQ(times_completed_[i], 1) << "request " << i;
            EXPECT_EQ(requests_[i].error_class, ErrorClass::path_down) << "request " << i;
            EXPECT_EQ(requests_[i].commands_open, 0U);
        }
        EXPECT_EQ(path_->outstanding(), 0U);
        EXPECT_FALSE(path_->live());
        EXPECT_EQ(losses_.size(), GetParam().told ? 1U : 0U);
    }

    static constexpr std::uint32_t kRequests = 12;
    Bytes buffer_;
};

TEST_P(IoPathLoss, BringsEveryRequestBackOnceAsPathDown) {
    fill();
    GetParam().cause(*path_, controllers_);
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    collect();
    expect_everything_came_back_once();
}

TEST_P(IoPathLoss, TakesNoRequestAfterwards) {
    fill();
    GetParam().cause(*path_, controllers_);
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    collect();
    submit(kRequests, Operation::flush, 0, 0);
    path_->flush();
    collect();
    EXPECT_EQ(times_completed_[kRequests], 1);
    EXPECT_EQ(requests_[kRequests].error_class, ErrorClass::path_down);
    EXPECT_EQ(path_->outstanding(), 0U);
}

TEST_P(IoPathLoss, BringsBackWhatIsSubmittedWhileItEnds) {
    fill();
    GetParam().cause(*path_, controllers_);
    for (std::uint32_t i = kRequests; i < 60 && !path_->closed(); ++i) {
        submit(i, Operation::flush, 0, 0);
        path_->flush();
        reactor_->run(kMillisecond);
    }
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    collect();
    expect_everything_came_back_once();
    for (std::uint32_t i = kRequests; i < 60; ++i) {
        EXPECT_LE(times_completed_[i], 1);
    }
}

TEST_P(IoPathLoss, LeavesNobodyWhoLooksAtTheBuffers) {
    fill();
    GetParam().cause(*path_, controllers_);
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    Bytes().swap(buffer_);
    path_.reset();
    settle(); // under asan
}

INSTANTIATE_TEST_SUITE_P(Causes, IoPathLoss, testing::ValuesIn(kLosses),
                         [](const auto& row) { return row.param.name; });

class IoPathLive : public IoPathTest {};

TEST_F(IoPathLive, EndsWithCloseAlready) {
    open();
    EXPECT_TRUE(path_->live());
    path_->close({ECONNRESET, "the controller was lost"});
    EXPECT_FALSE(path_->live()) << "no policy may choose it any more";
    EXPECT_FALSE(path_->closed());
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
}

TEST_F(IoPathLive, NeedsEveryQueue) {
    open({.queues = 2});
    controllers_[0]->end().close();
    ASSERT_TRUE(run_until([this] { return !path_->live(); }));
    ASSERT_EQ(losses_.size(), 1U);
    EXPECT_NE(losses_[0].text.find("the peer closed the connection"), std::string::npos) << losses_[0].text;
    ASSERT_TRUE(run_until([this] { return path_->closed(); }));
    EXPECT_EQ(losses_.size(), 1U);
}

TEST_F(IoPathLive, IsNotBeforeTheQueuesAreThere) {
    DeviceLimits limits;
    limits.block_size = 512;
    auto reactor = net::make_reactor(clock_, 4);
    ASSERT_TRUE(reactor) << reactor.error().text;
    IoPath path(0, 1, limits, {}, **reactor, completions_, *this);
    EXPECT_FALSE(path.live());
    EXPECT_TRUE(path.closed());
}

} // namespace
} // namespace mpath::nvme::test
