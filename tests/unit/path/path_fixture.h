// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "net/reactor.h"
#include "path/path.h"

namespace mpath::test {

/// A path of whatever protocol, with one scripted peer at the end of each of its connections. A `Peer` has
/// end(), which is pumped, and next(), which gives what came from the path.
template <typename SomePath, typename Peer>
class PathFixture : public testing::Test, protected PathListener {
protected:
    /// Where the data of requests belongs whose data never comes.
    static inline std::byte nowhere{};
    static constexpr std::uint16_t kIndex = 3;
    static constexpr std::size_t kRequests = 64;

    void make_reactor() {
        auto made = net::make_reactor(clock_, 64);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
    }

    void TearDown() override {
        if (path_ && !path_->closed()) {
            path_->close({0, {}});
            EXPECT_TRUE(run_until([this] { return path_->closed(); }));
        }
    }

    Request& submit(std::uint32_t index, Operation operation, std::uint64_t offset, std::uint32_t length,
                    std::byte* buffer = &nowhere) {
        Request& request = requests_[index];
        request = {};
        request.index = index;
        request.operation = operation;
        request.offset = offset;
        request.length = length;
        request.buffer = buffer;
        request.dispatched_at = clock_.now();
        path_->submit(request);
        return request;
    }

    template <typename Condition>
    bool run_until(Condition condition) {
        for (int i = 0; i < 10'000; ++i) {
            for (const auto& peer : peers_) {
                peer->end().pump();
            }
            if (condition()) {
                return true;
            }
            reactor_->run(kMillisecond);
            collect();
        }
        return false;
    }
    void settle() {
        for (int i = 0; i < 3; ++i) {
            reactor_->run(kMillisecond);
            collect();
        }
    }
    void collect() {
        while (Request* request = completions_.pop()) {
            ++times_completed_[request->index];
            completed_.push_back(request->index);
        }
    }
    bool run_until_completed(std::size_t count) {
        return run_until([&] {
            collect();
            return completed_.size() >= count;
        });
    }

    /// What the peer of a connection gets next; nothing, and a failure, when nothing comes.
    auto receive_from(std::size_t connection) {
        decltype(peers_[connection]->next()) pdu;
        EXPECT_TRUE(run_until([&] {
            pdu = peers_[connection]->next();
            return pdu.has_value();
        }));
        return pdu;
    }
    /// Whether nothing but what was received already is on the way to the peer.
    bool nothing_arrives(std::size_t connection = 0) {
        settle();
        return !peers_[connection]->next();
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_;
    std::vector<std::unique_ptr<Peer>> peers_;
    RequestList completions_;
    std::unique_ptr<SomePath> path_;
    std::vector<Request> requests_ = std::vector<Request>(kRequests);

    std::vector<std::uint32_t> completed_;                           ///< indices, in the order they came back
    std::vector<int> times_completed_ = std::vector<int>(kRequests); ///< by index
    std::vector<Error> losses_;

private:
    void on_path_lost(std::uint16_t index, const Error& error) noexcept override {
        EXPECT_EQ(index, kIndex);
        EXPECT_FALSE(path_->live());
        losses_.push_back(error);
    }
};

} // namespace mpath::test
