// SPDX-License-Identifier: GPL-2.0-only
// An association for a few questions: an admin queue without keep-alive (KATO 0) and without events.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/socket_options.h"
#include "net/task.h"
#include "nvme/admin_queue.h"
#include "nvme/controller_enable.h"
#include "nvme/host.h"

namespace mpath::nvme {

struct BriefOptions {
    HostIdentity host;
    net::SocketOptions socket{};
    Nanoseconds timeout = 0; ///< for everything one controller has to say

    bool operator==(const BriefOptions&) const = default;
};

class BriefAssociation {
public:
    /// Connects to the first of `addresses` that answers, and enables the controller. The sentence of an
    /// error names the address. `addresses` must stay until the task has ended.
    static net::Task<Result<std::unique_ptr<BriefAssociation>>>
    open(net::Reactor& reactor, std::span<const net::SocketAddress> addresses, std::string subnqn,
         CommandSet command_set, BriefOptions options, Nanoseconds deadline);
    BriefAssociation(const BriefAssociation&) = delete;
    BriefAssociation& operator=(const BriefAssociation&) = delete;
    /// Only after end() has ended.
    ~BriefAssociation() = default;

    [[nodiscard]] AdminQueue& admin() noexcept { return admin_; }
    /// Of the peer, as connected: "192.0.2.1:8009".
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    /// Shuts the controller down if it still answers, and closes the queue.
    net::Task<int> end();

private:
    BriefAssociation(net::Reactor& reactor, ConnectedQueue connected);

    std::string address_;
    AdminQueue admin_;
    std::uint32_t configuration_ = 0; ///< CC; 0: never enabled
};

} // namespace mpath::nvme
