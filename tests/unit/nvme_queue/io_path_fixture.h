// SPDX-License-Identifier: GPL-2.0-only
// A path with one scripted controller at the end of each of its queues.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "net/reactor.h"
#include "nvme/io_path.h"
#include "tests/unit/nvme_queue/scripted_controller.h"

namespace mpath::nvme::test {

struct PathShape {
    std::size_t queues = 1;
    std::uint16_t queue_size = 128;
    std::uint32_t in_capsule = 8192;
    std::uint32_t block_size = 512;
    std::uint32_t max_transfer = 8192;
    PduOptions pdu{};
    std::uint64_t boundary = 0;
    std::uint64_t max_trim = 0;
    std::uint64_t max_write_zeroes = 0;
    WriteOptions writes{};
    std::array<Nanoseconds, 3> retry_delays{};
};

class IoPathTest : public testing::Test, protected PathListener {
protected:
    /// Where the data of requests belongs whose data never comes.
    static inline std::byte nowhere{};
    static constexpr std::uint16_t kIndex = 3;
    static constexpr std::uint32_t kNsid = 9;

    void open(const PathShape& shape = {}) {
        auto made = net::make_reactor(clock_, 64);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
        DeviceLimits limits;
        limits.size = std::uint64_t{1} << 40;
        limits.block_size = shape.block_size;
        limits.max_transfer = shape.max_transfer;
        limits.boundary = shape.boundary;
        limits.max_trim = shape.max_trim;
        limits.max_write_zeroes = shape.max_write_zeroes;
        path_ = std::make_unique<IoPath>(kIndex, kNsid, limits, shape.writes, *reactor_, completions_,
                                         static_cast<PathListener&>(*this));
        std::vector<ConnectedQueue> queues;
        for (std::size_t i = 0; i < shape.queues; ++i) {
            auto pair = net::test::make_socket_pair();
            controllers_.push_back(std::make_unique<ScriptedController>(std::move(pair.theirs)));
            ConnectedQueue queue;
            queue.socket = std::move(pair.ours);
            queue.parameters.id = static_cast<std::uint16_t>(i + 1);
            queue.parameters.size = shape.queue_size;
            queue.parameters.in_capsule = shape.in_capsule;
            queue.parameters.pdu = shape.pdu;
            queues.push_back(std::move(queue));
        }
        ControllerFacts facts;
        facts.limits = limits;
        facts.retry_delays = shape.retry_delays;
        ConnectedPath connected(facts, std::move(queues));
        path_->attach(connected);
        requests_.resize(64);
        times_completed_.resize(requests_.size());
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
            for (const auto& controller : controllers_) {
                controller->end().pump();
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

    Pdu receive_pdu(std::size_t queue = 0) {
        std::optional<Pdu> pdu;
        EXPECT_TRUE(run_until([&] {
            pdu = controllers_[queue]->next();
            return pdu.has_value();
        }));
        return pdu.value_or(Pdu{Bytes(sizeof(CapsuleCmd))});
    }
    RwCommand receive_command(std::size_t queue = 0) {
        RwCommand command;
        const Pdu pdu = receive_pdu(queue);
        std::memcpy(&command, pdu.bytes.data() + sizeof(CommonHeader), sizeof command);
        return command;
    }
    /// Whether nothing but what was received already is on the way to the controller.
    bool nothing_arrives(std::size_t queue = 0) {
        settle();
        return !controllers_[queue]->next();
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_;
    std::vector<std::unique_ptr<ScriptedController>> controllers_;
    RequestList completions_;
    std::unique_ptr<IoPath> path_;
    std::vector<Request> requests_;

    std::vector<std::uint32_t> completed_; ///< indices, in the order they came back
    std::vector<int> times_completed_;     ///< by index
    std::vector<std::string> losses_;

private:
    void on_path_lost(std::uint16_t index, const Error& error) noexcept override {
        EXPECT_EQ(index, kIndex);
        EXPECT_FALSE(path_->live());
        losses_.push_back(error.text);
    }
};

} // namespace mpath::nvme::test
