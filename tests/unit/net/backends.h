// SPDX-License-Identifier: GPL-2.0-only
// What is true of every backend is tested on every backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "net/poll_reactor.h"
#include "net/uring_reactor.h"

namespace mpath::net::test {

/// The parameter is the backend's name; a host that does not let us have io_uring skips those tests.
class BackendTest : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (GetParam() == std::string_view("poll")) {
            reactor_ = std::make_unique<PollReactor>(clock_, 8);
        } else if (auto ring = UringReactor::create(clock_, 8)) {
            reactor_ = std::move(*ring);
        } else {
            GTEST_SKIP() << ring.error().text;
        }
    }
    [[nodiscard]] bool polls() const { return reactor_->backend() == "poll"; }

    template <typename Condition>
    bool run_until(Condition condition) {
        for (int i = 0; i < 10'000; ++i) {
            if (condition()) {
                return true;
            }
            reactor_->run(kMillisecond);
        }
        return false;
    }

    SystemClock clock_;
    std::unique_ptr<Reactor> reactor_;
};

inline std::string backend_name(const testing::TestParamInfo<const char*>& backend) {
    return backend.param;
}

#define INSTANTIATE_ON_EVERY_BACKEND(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(Backends, suite, testing::Values("io_uring", "poll"), test::backend_name)

/// An operation that remembers how it ended.
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
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    [[nodiscard]] bool ended() const { return calls > 0; }
};

/// A message of one piece.
struct Message {
    iovec piece;
    msghdr header{};

    Message(void* data, std::size_t length) : piece{data, length} {
        header.msg_iov = &piece;
        header.msg_iovlen = 1;
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
};

} // namespace mpath::net::test
