// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "target/server.h"

namespace mpath::nvme::test {

/// A target on loopback ports, served by a thread.
class RunningTarget {
public:
    explicit RunningTarget(const target::Options& options)
        : server_(std::move(*target::Server::create(options, clock_))) {
        thread_ = std::thread([this] { server_->run(); });
    }
    RunningTarget(const RunningTarget&) = delete;
    RunningTarget& operator=(const RunningTarget&) = delete;
    ~RunningTarget() { stop(); }

    void stop() {
        if (thread_.joinable()) {
            server_->stop();
            thread_.join();
        }
    }

    /// "127.0.0.1:4420", those of --discovery behind the others.
    [[nodiscard]] std::string address(std::size_t listener = 0) const {
        return server_->listeners()[listener]->address;
    }
    [[nodiscard]] std::uint16_t port(std::size_t listener = 0) const {
        return server_->listeners()[listener]->options.port;
    }
    /// Only once stopped.
    [[nodiscard]] std::uint64_t discoveries() const {
        std::uint64_t sum = 0;
        for (const auto& listener : server_->listeners()) {
            sum += listener->counters.discoveries;
        }
        return sum;
    }

private:
    SystemClock clock_;
    std::unique_ptr<target::Server> server_;
    std::thread thread_;
};

} // namespace mpath::nvme::test
