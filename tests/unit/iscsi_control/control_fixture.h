// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "iscsi/control_session.h"
#include "net/async.h"
#include "tests/unit/iscsi_control/fake_target.h"

namespace mpath::iscsi::test {

/// Notes what a control session says.
class Listener final : public LinkListener {
public:
    void on_path_state(PathState state, std::string_view name) noexcept override {
        states.emplace_back(state, name);
    }
    void on_device_changed(std::string text) noexcept override { changes.push_back(std::move(text)); }
    void on_event(std::string text) noexcept override { events.push_back(std::move(text)); }
    void on_lost(const Error& error) noexcept override { losses.push_back(error); }

    std::vector<std::pair<PathState, std::string>> states;
    std::vector<std::string> changes;
    std::vector<std::string> events;
    std::vector<Error> losses;
};

/// Real time, with what a test leaps over.
class LeapingClock final : public Clock {
public:
    [[nodiscard]] Nanoseconds now() const noexcept override { return real_.now() + leapt_; }
    [[nodiscard]] Nanoseconds utc() const noexcept override { return real_.utc() + leapt_; }
    void leap(Nanoseconds by) { leapt_ += by; }

private:
    SystemClock real_;
    Nanoseconds leapt_ = 0;
};

class ControlTest : public testing::Test {
protected:
    using Connected = Result<std::unique_ptr<ControlSession>>;

    Connected connect(const FakeTarget& target, net::Cancellation* cancellation = nullptr) {
        return net::run_until_done(*reactor_, connecting(target.address(), cancellation));
    }
    net::Task<Connected> connecting(const net::SocketAddress& address,
                                    net::Cancellation* cancellation = nullptr) {
        Uri uri;
        uri.host = "127.0.0.1";
        uri.target = target_name_;
        uri.lun = lun_;
        return ControlSession::connect_to(*reactor_, uri, {address}, options_, isids_, cancellation);
    }
    /// The error of connecting, without the address in front of it.
    Error refused(const FakeTarget& target) {
        Connected session = connect(target);
        if (session) {
            log_out(**session);
            return {0, "connected"};
        }
        Error error = session.error();
        if (const std::string place = target.address().text() + ": "; error.text.starts_with(place)) {
            error.text.erase(0, place.size());
        }
        return error;
    }
    int log_out(ControlSession& session, Nanoseconds patience = 10 * kSecond) {
        return net::run_until_done(*reactor_, session.logout(clock_.now() + patience));
    }
    /// Runs the reactor until `done`, within reason.
    [[nodiscard]] bool run_until(const std::function<bool()>& done) {
        const SystemClock real;
        const Nanoseconds give_up = real.now() + 10 * kSecond;
        while (!done() && real.now() < give_up) {
            reactor_->run(kMillisecond);
        }
        return done();
    }
    /// Until no command comes any more.
    void settle(FakeTarget& target) {
        std::size_t before = 0;
        do {
            before = target.commands();
            for (int i = 0; i < 20; ++i) {
                reactor_->run(kMillisecond);
            }
        } while (target.commands() != before);
    }

    static SessionOptions quick_options() {
        SessionOptions options;
        options.initiator_name = "iqn.2025-01.org.example:host";
        options.connect_timeout = 10 * kSecond;
        return options;
    }

    LeapingClock clock_;
    std::unique_ptr<net::Reactor> reactor_ = std::move(*net::make_reactor(clock_, 8));
    SessionOptions options_ = quick_options();
    IsidBase isids_{1, 2, 3};
    std::string target_name_ = "iqn.2025-01.org.example:disk";
    std::uint64_t lun_ = 0;
    Listener listener_;
};

class LiveControl : public ControlTest {
protected:
    /// Connects and starts; the session has looked around once.
    ControlSession& start(FakeTarget& target) {
        Connected session = connect(target);
        EXPECT_TRUE(session) << session.error().text;
        session_ = std::move(*session);
        const unsigned asked = target.received(scsi_opcode::kTestUnitReady);
        session_->start(listener_);
        EXPECT_TRUE(run_until([&] { return target.received(scsi_opcode::kTestUnitReady) > asked; }));
        settle(target);
        return *session_;
    }
    /// The time of the next look comes.
    void next_look() { clock_.leap(options_.keep_alive_ms * kMillisecond); }
    [[nodiscard]] bool run_until_lost() {
        return run_until([this] { return !listener_.losses.empty(); });
    }
    void TearDown() override {
        if (session_) {
            log_out(*session_, kSecond);
        }
    }

    std::unique_ptr<ControlSession> session_;
};

} // namespace mpath::iscsi::test
