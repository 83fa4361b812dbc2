// SPDX-License-Identifier: GPL-2.0-only
// A session on a real reactor and a real connection, whose other end is a scripted target.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iscsi/session.h"
#include "net/reactor.h"
#include "tests/unit/iscsi_session/scripted_target.h"

namespace mpath::iscsi::test {

inline constexpr Lun kLun{0, 5};

/// What most tests have agreed on: data goes with the command, or is asked for.
inline constexpr SessionParameters kPlain{.max_receive_data = 256 * 1024};

inline SessionParameters with_digests(bool header, bool data, SessionParameters parameters = kPlain) {
    parameters.header_digest = header;
    parameters.data_digest = data;
    return parameters;
}

/// Writes carry nothing: all their data is asked for.
inline SessionParameters all_asked_for(SessionParameters parameters = kPlain) {
    parameters.immediate_data = false;
    return parameters;
}

struct Agreement {
    const char* name;
    bool header;
    bool data;
};
inline constexpr std::array kAgreements = {
    Agreement{"NoDigest", false, false}, Agreement{"HeaderDigest", true, false},
    Agreement{"DataDigest", false, true}, Agreement{"BothDigests", true, true}};

class SessionTest : public testing::Test, protected SessionClient {
protected:
    struct Done : CommandEnd {
        Bytes sense_data;
    };
    struct Async : AsyncEvent {
        Bytes sense_data;
    };

    /// `buffer`: as make_socket_pair().
    void open(const SessionParameters& parameters = kPlain, std::uint16_t commands = 128, int buffer = 0,
              const SessionNumbers& numbers = kNumbers) {
        auto made = net::make_reactor(clock_, 64);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
        auto pair = net::test::make_socket_pair(buffer);
        target_.emplace(std::move(pair.theirs), parameters, numbers);
        LoggedIn logged_in;
        logged_in.socket = std::move(pair.ours);
        logged_in.parameters = parameters;
        logged_in.numbers = numbers;
        session_ = std::make_unique<Session>(*reactor_, std::move(logged_in), commands,
                                             static_cast<SessionClient&>(*this));
    }

    void TearDown() override {
        if (session_ && !closed_) {
            session_->close({0, {}}, net::Stream::Ending::orderly);
            EXPECT_TRUE(run_until_closed());
        }
    }

    void submit(Transfer transfer, std::byte* data, std::uint32_t length, void* owner = nullptr) {
        Cdb cdb{};
        cdb[0] = transfer == Transfer::to_host     ? scsi_opcode::kRead16
                 : transfer == Transfer::to_target ? scsi_opcode::kWrite16
                                                   : scsi_opcode::kSynchronizeCache16;
        session_->submit(cdb, kLun, transfer, data, length, owner);
    }
    void submit_read(Bytes& buffer) {
        submit(Transfer::to_host, buffer.data(), static_cast<std::uint32_t>(buffer.size()), &buffer);
    }
    void submit_write(Bytes& buffer) {
        submit(Transfer::to_target, buffer.data(), static_cast<std::uint32_t>(buffer.size()), &buffer);
    }
    void submit_flush() { submit(Transfer::none, nullptr, 0, this); }

    /// Sends what was submitted; the tag of its first command as the target sees it.
    std::uint32_t sent_tag() {
        session_->flush();
        return receive_pdu().as<ScsiCommand>().task_tag;
    }
    std::uint32_t start_read(Bytes& buffer) {
        submit_read(buffer);
        return sent_tag();
    }
    std::uint32_t start_write(Bytes& buffer) {
        submit_write(buffer);
        return sent_tag();
    }
    std::uint32_t start_flush() {
        submit_flush();
        return sent_tag();
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
    Pdu receive_pdu() {
        std::optional<Pdu> pdu;
        EXPECT_TRUE(run_until([&] {
            pdu = target_->next();
            return pdu.has_value();
        }));
        return pdu.value_or(Pdu{Bytes(kBhsSize)});
    }
    /// Whether nothing but what was received already is on the way to the target.
    bool nothing_arrives() {
        settle();
        return !target_->next();
    }
    /// The latest command ended with success, and all its data was moved.
    [[nodiscard]] bool succeeded() const {
        const Done& end = done_.back();
        return !end.lost && !end.failed && !end.damaged && end.status == 0 && end.moved == end.asked;
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_;
    std::optional<ScriptedTarget> target_;
    std::unique_ptr<Session> session_;

    std::vector<Done> done_;
    std::vector<Async> async_;
    std::vector<std::pair<std::uint32_t, std::uint8_t>> managed_; ///< tag and response
    std::vector<std::uint8_t> logged_out_;
    int rooms_ = 0;
    int pongs_ = 0;
    std::optional<Error> closed_;
    int times_closed_ = 0;

private:
    void on_command_done(const CommandEnd& end) noexcept override {
        EXPECT_FALSE(closed_) << "a command's end after that of the session";
        done_.push_back({end, {end.sense.begin(), end.sense.end()}});
    }
    void on_room() noexcept override { ++rooms_; }
    void on_async(const AsyncEvent& event) noexcept override {
        async_.push_back({event, {event.sense.begin(), event.sense.end()}});
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

} // namespace mpath::iscsi::test
