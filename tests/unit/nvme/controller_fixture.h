// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/async.h"
#include "nvme/controller.h"
#include "tests/unit/nvme/fake_controller.h"

namespace mpath::nvme::test {

/// Notes what a controller says.
class Listener final : public LinkListener {
public:
    void on_path_state(PathState state, std::string_view /*name*/) noexcept override {
        states.push_back(state);
    }
    void on_device_changed(std::string text) noexcept override { namespaces.push_back(std::move(text)); }
    void on_event(std::string text) noexcept override { events.push_back(std::move(text)); }
    void on_lost(const Error& error) noexcept override { losses.push_back(error); }

    std::vector<PathState> states;
    std::vector<std::string> namespaces;
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

class ControllerTest : public testing::Test {
protected:
    using Connected = Result<std::unique_ptr<Controller>>;

    Connected connect(FakeController& fake) { return connect_to(fake.address().text()); }
    Connected connect_to(const std::string& address) {
        auto uri = parse_uri("nvme+tcp://" + address + "/" + subnqn_ + "/" + std::to_string(nsid_));
        return net::run_until_done(*reactor_, Controller::connect(*reactor_, *uri, options_));
    }
    /// The error of connecting to a controller with this data.
    Error refused(FakeController::Data data) {
        FakeController fake(std::move(data));
        auto controller = connect(fake);
        if (controller) {
            close(**controller);
            return {0, "connected"};
        }
        return controller.error();
    }
    void close(Controller& controller) { net::run_until_done(*reactor_, controller.close()); }
    int shutdown(Controller& controller, Nanoseconds patience = 10 * kSecond) {
        return net::run_until_done(*reactor_, controller.shutdown(clock_.now() + patience));
    }
    /// Runs the reactor until `done`, within reason.
    [[nodiscard]] bool run_until(const std::function<bool()>& done) {
        const Nanoseconds give_up = clock_.now() + 10 * kSecond;
        while (!done() && clock_.now() < give_up) {
            reactor_->run(kMillisecond);
        }
        return done();
    }

    /// Lets the other side's thread have its say.
    void run_a_little() {
        for (int i = 0; i < 50; ++i) {
            reactor_->run(kMillisecond);
        }
    }

    static ControllerOptions quick_options() {
        ControllerOptions options;
        options.host.nqn = "nqn.2014-08.org.nvmexpress:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427";
        options.host.id.fill(0x5a);
        options.io_queues = 4;
        options.connect_timeout = 10 * kSecond;
        return options;
    }

    LeapingClock clock_;
    std::unique_ptr<net::Reactor> reactor_ = std::move(*net::make_reactor(clock_, 8));
    ControllerOptions options_ = quick_options();
    std::string subnqn_ = "nqn.2014-08.org.example:vol1";
    std::uint32_t nsid_ = 1;
    Listener listener_;
};

class LiveController : public ControllerTest {
protected:
    /// Connects and starts; the test ends the controller.
    Controller& start(FakeController& fake) {
        auto connected = connect(fake);
        EXPECT_TRUE(connected) << connected.error().text;
        controller_ = std::move(*connected);
        controller_->start(listener_);
        return *controller_;
    }
    void TearDown() override {
        if (controller_) {
            close(*controller_);
        }
    }

    std::unique_ptr<Controller> controller_;
};

} // namespace mpath::nvme::test
