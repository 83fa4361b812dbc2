// SPDX-License-Identifier: GPL-2.0-only
// A queue on a real reactor and a real connection, whose other end is a scripted controller.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "net/reactor.h"
#include "nvme/queue.h"
#include "tests/unit/nvme_queue/scripted_controller.h"

namespace mpath::nvme::test {

class QueueTest : public testing::Test, protected QueueClient {
protected:
    /// `buffer`: as make_socket_pair().
    void open(const QueueParameters& parameters = {}, int buffer = 0) {
        auto made = net::make_reactor(clock_, 64);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
        auto pair = net::test::make_socket_pair(buffer);
        controller_.emplace(std::move(pair.theirs));
        queue_ = std::make_unique<Queue>(*reactor_, std::move(pair.ours), parameters,
                                         static_cast<QueueClient&>(*this));
    }

    void TearDown() override {
        if (queue_ && !closed_) {
            queue_->close({0, {}}, net::Stream::Ending::orderly);
            EXPECT_TRUE(run_until([this] { return closed_.has_value(); }));
        }
    }

    /// Submits, sends and returns the command's identifier as the controller sees it.
    std::uint16_t start(Transfer transfer, std::byte* data, std::uint32_t length, void* owner = nullptr) {
        Sqe sqe;
        sqe.opcode = transfer == Transfer::to_host         ? io_opcode::kRead
                     : transfer == Transfer::to_controller ? io_opcode::kWrite
                                                           : io_opcode::kFlush;
        queue_->submit(sqe, transfer, data, length, owner);
        queue_->flush();
        return receive_pdu().as<CapsuleCmd>().sqe.cid;
    }
    std::uint16_t start_read(Bytes& buffer, void* owner = nullptr) {
        return start(Transfer::to_host, buffer.data(), static_cast<std::uint32_t>(buffer.size()), owner);
    }
    std::uint16_t start_write(Bytes& buffer, void* owner = nullptr) {
        return start(Transfer::to_controller, buffer.data(), static_cast<std::uint32_t>(buffer.size()),
                     owner);
    }

    /// Runs both ends until `condition` holds; false when it does not within seconds.
    template <typename Condition>
    bool run_until(Condition condition) {
        for (int i = 0; i < 10'000; ++i) {
            controller_->end().pump();
            if (condition()) {
                return true;
            }
            reactor_->run(kMillisecond);
        }
        return false;
    }
    /// Lets what is on the way arrive.
    void settle() {
        for (int i = 0; i < 3; ++i) {
            controller_->end().pump();
            reactor_->run(kMillisecond);
        }
    }
    bool run_until_done(std::size_t commands) {
        return run_until([&] { return done_.size() >= commands; });
    }
    Pdu receive_pdu() {
        std::optional<Pdu> pdu;
        EXPECT_TRUE(run_until([&] {
            pdu = controller_->next();
            return pdu.has_value();
        }));
        return pdu.value_or(Pdu{Bytes(sizeof(CapsuleCmd))});
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_;
    std::optional<ScriptedController> controller_;
    std::unique_ptr<Queue> queue_;

    std::vector<Completion> done_;
    int batches_sent_ = 0;
    std::optional<Error> closed_;
    int times_closed_ = 0;

private:
    void on_command_done(const Completion& completion) noexcept override {
        EXPECT_FALSE(closed_) << "a completion after the end of the queue";
        done_.push_back(completion);
    }
    void on_sent() noexcept override { ++batches_sent_; }
    void on_queue_closed(const Error& error) noexcept override {
        closed_ = error;
        ++times_closed_;
    }
};

} // namespace mpath::nvme::test
