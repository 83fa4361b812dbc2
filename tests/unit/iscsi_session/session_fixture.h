// SPDX-License-Identifier: GPL-2.0-only
// A session on a real reactor and a real connection, whose other end is a scripted target.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iscsi/block_command.h"
#include "iscsi/session.h"
#include "net/reactor.h"
#include "tests/unit/iscsi_session/scripted_target.h"

namespace mpath::iscsi::test {

/// Where the numbers of the tests' sessions begin: CmdSN shortly before it wraps around.
inline constexpr SessionNumbers kNumbers{
    .cmd_sn = 0xfffffffe, .exp_stat_sn = 77, .max_cmd_sn = 0xfffffffe + 4095};
inline constexpr Lun kLun{0, 5};

struct SessionShape {
    SessionParameters parameters{};
    std::uint16_t commands = 32;
    SessionNumbers numbers = kNumbers;
    int buffer = 0; ///< as make_socket_pair()
};

class SessionTest : public testing::Test, protected SessionClient {
protected:
    /// A CommandEnd that stays.
    struct Done {
        CommandEnd end;
        Bytes sense;
    };
    struct Async {
        AsyncEvent event;
        Bytes sense;
    };

    void open(const SessionShape& shape = {}) {
        auto made = net::make_reactor(clock_, 64);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
        auto pair = net::test::make_socket_pair(shape.buffer);
        target_.emplace(std::move(pair.theirs), shape.parameters, shape.numbers);
        LoggedIn logged_in;
        logged_in.socket = std::move(pair.ours);
        logged_in.parameters = shape.parameters;
        logged_in.numbers = shape.numbers;
        session_ = std::make_unique<Session>(*reactor_, std::move(logged_in), shape.commands,
                                             static_cast<SessionClient&>(*this));
    }

    void TearDown() override {
        if (session_ && !closed_) {
            session_->close({0, {}}, net::Stream::Ending::orderly);
            EXPECT_TRUE(run_until([this] { return closed_.has_value(); }));
        }
    }

    void submit(Transfer transfer, std::byte* data, std::uint32_t length, void* owner = nullptr) {
        const std::uint8_t opcode = transfer == Transfer::to_host     ? scsi_opcode::kRead16
                                    : transfer == Transfer::to_target ? scsi_opcode::kWrite16
                                                                      : scsi_opcode::kSynchronizeCache16;
        session_->submit(block_command(opcode, 0, 0, length / 512), kLun, transfer, data, length, owner);
    }
    void submit_write(Bytes& buffer, void* owner = nullptr) {
        submit(Transfer::to_target, buffer.data(), static_cast<std::uint32_t>(buffer.size()), owner);
    }
    /// These submit, send and return the command's tag as the target sees it.
    std::uint32_t start(Transfer transfer, std::byte* data, std::uint32_t length, void* owner = nullptr) {
        submit(transfer, data, length, owner);
        session_->flush();
        return receive(Opcode::scsi_command).tag();
    }
    std::uint32_t start_flush(void* owner = nullptr) { return start(Transfer::none, nullptr, 0, owner); }
    std::uint32_t start_read(Bytes& buffer, void* owner = nullptr) {
        return start(Transfer::to_host, buffer.data(), static_cast<std::uint32_t>(buffer.size()), owner);
    }
    std::uint32_t start_write(Bytes& buffer, void* owner = nullptr) {
        return start(Transfer::to_target, buffer.data(), static_cast<std::uint32_t>(buffer.size()), owner);
    }

    /// Runs both ends until `condition` holds; false when it does not within seconds.
    template <typename Condition>
    bool run_until(Condition condition) {
        for (int i = 0; i < 10'000; ++i) {
            target_->end().pump();
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
            target_->end().pump();
            reactor_->run(kMillisecond);
        }
    }
    bool run_until_done(std::size_t commands) {
        return run_until([&] { return done_.size() >= commands; });
    }
    bool run_until_closed() {
        return run_until([this] { return closed_.has_value(); });
    }
    Pdu receive() {
        std::optional<Pdu> pdu;
        EXPECT_TRUE(run_until([&] {
            pdu = target_->next();
            return pdu.has_value();
        }));
        return pdu.value_or(Pdu{});
    }
    Pdu receive(Opcode opcode) {
        Pdu pdu = receive();
        EXPECT_EQ(pdu.opcode(), opcode);
        return pdu;
    }
    /// Whether nothing but what was received already is on the way to the target.
    bool nothing_arrives() {
        settle();
        return !target_->next();
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_;
    std::optional<ScriptedTarget> target_;
    std::unique_ptr<Session> session_;

    std::vector<Done> done_;
    std::vector<Async> asyncs_;
    std::vector<std::pair<std::uint32_t, std::uint8_t>> managed_; ///< tag and response
    std::vector<std::uint8_t> logged_out_;
    int rooms_ = 0;
    int pongs_ = 0;
    std::optional<Error> closed_;
    int times_closed_ = 0;

private:
    void on_command_done(const CommandEnd& end) noexcept override {
        EXPECT_FALSE(closed_) << "a command that ends after its session";
        done_.push_back({end, {end.sense.begin(), end.sense.end()}});
        done_.back().end.sense = {};
    }
    void on_room() noexcept override { ++rooms_; }
    void on_async(const AsyncEvent& event) noexcept override {
        asyncs_.push_back({event, {event.sense.begin(), event.sense.end()}});
        asyncs_.back().event.sense = {};
    }
    void on_pong() noexcept override { ++pongs_; }
    void on_task_managed(std::uint32_t tag, std::uint8_t response) noexcept override {
        managed_.emplace_back(tag, response);
    }
    void on_logged_out(std::uint8_t response) noexcept override { logged_out_.push_back(response); }
    void on_session_closed(const Error& error) noexcept override {
        closed_ = error;
        ++times_closed_;
    }
};

/// A command that did what it was asked to, as seen from its end.
inline testing::AssertionResult succeeded(const CommandEnd& end) {
    if (end.lost || end.unsent || end.failed || end.damaged || end.status != 0 || end.moved != end.asked) {
        return testing::AssertionFailure()
               << "lost " << end.lost << ", failed " << end.failed << ", damaged " << end.damaged
               << ", status " << +end.status << ", moved " << end.moved << " of " << end.asked;
    }
    return testing::AssertionSuccess();
}

} // namespace mpath::iscsi::test
