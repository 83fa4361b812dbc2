// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "job/keeper.h"
#include "target/fault/control_place.h"
#include "target/server.h"

namespace mpath::job::test {

/// A target with one listener, served by a thread; the device is always the same.
class OneTarget {
public:
    explicit OneTarget(std::uint16_t port = 0) {
        target::Options options;
        options.device_id = "keeper_test";
        options.size = 1 << 20;
        options.listeners.resize(1);
        options.listeners[0].port = port;
        options.anatt = 1;
        server_ = std::move(*target::Server::create(options, clock_));
        control_ = server_->open_control("").value_or("");
        thread_ = std::thread([this] { server_->run(); });
    }
    OneTarget(const OneTarget&) = delete;
    OneTarget& operator=(const OneTarget&) = delete;
    ~OneTarget() {
        server_->stop();
        thread_.join();
    }

    /// Statements of a fault script, done when it returns.
    void tell(std::string_view statements) {
        const auto socket = target::connect_control(control_);
        ASSERT_TRUE(socket) << socket.error().text;
        const std::string said = fmt::format("test\n{}\n", statements);
        ASSERT_EQ(::send(socket->get(), said.data(), said.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(said.size()));
        ::shutdown(socket->get(), SHUT_WR);
        std::string answer;
        std::array<char, 512> buffer{};
        ssize_t count = 0;
        while ((count = ::recv(socket->get(), buffer.data(), buffer.size(), 0)) > 0) {
            answer.append(buffer.data(), static_cast<std::size_t>(count));
        }
        ASSERT_EQ(answer.substr(0, 3), "ok\n") << answer;
    }

    [[nodiscard]] nvme::Uri uri() const {
        const std::string& address = server_->listeners()[0]->address;
        return *nvme::parse_uri("nvme+tcp://" + address + "/" + target::Options().subnqn + "/1");
    }

private:
    SystemClock clock_;
    std::unique_ptr<target::Server> server_;
    std::string control_;
    std::thread thread_;
};

class KeeperTest : public testing::Test {
protected:
    KeeperTest() {
        options_.nvme.host.nqn = "nqn.2014-08.org.nvmexpress:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427";
        options_.nvme.host.id.fill(0x5a);
        options_.nvme.connect_timeout = 5 * kSecond;
        life_.reconnect_delay = 20 * kMillisecond;
    }

    std::vector<Result<std::unique_ptr<PathConnection>>> connect(std::vector<PathUri> uris) {
        keeper_ = std::make_unique<Keeper>(
            clock_, std::move(uris), options_, *events_, kSecond, [] {}, life_, device_);
        auto connections = keeper_->connect();
        EXPECT_TRUE(connections);
        return std::move(*connections);
    }
    [[nodiscard]] static bool wait_until(const std::function<bool()>& done) {
        for (int i = 0; i < 10'000 && !done(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return done();
    }
    [[nodiscard]] bool waits(std::size_t path) { return keeper_->news().connection_waits(path); }
    [[nodiscard]] std::vector<record::EventKind> kinds() const {
        std::vector<record::EventKind> found;
        for (const record::Event& event : events_->events()) {
            found.push_back(event.kind);
        }
        return found;
    }

    SystemClock clock_;
    ConnectOptions options_;
    LifeOptions life_;
    std::optional<JobDevice> device_;
    std::unique_ptr<live::EventLog> events_ = std::make_unique<live::EventLog>();
    std::unique_ptr<Keeper> keeper_;
};

} // namespace mpath::job::test
