// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/brief_association.h"

#include "nvme/queue_connect.h"

namespace mpath::nvme {
namespace {

constexpr Nanoseconds kGoodbye = kSecond; ///< for shutting down, on which nothing depends

} // namespace

BriefAssociation::BriefAssociation(net::Reactor& reactor, ConnectedQueue connected)
    : address_(connected.address), admin_(reactor, std::move(connected), [](const Error&) {}) {}

net::Task<Result<std::unique_ptr<BriefAssociation>>>
BriefAssociation::open(net::Reactor& reactor, std::span<const net::SocketAddress> addresses,
                       std::string subnqn, CommandSet command_set, BriefOptions options,
                       Nanoseconds deadline) {
    ConnectRequest request;
    request.subsystem_nqn = std::move(subnqn);
    request.host = options.host;
    request.queue_size = kAdminQueueSize;
    request.socket = options.socket;
    Result<ConnectedQueue> queue = co_await connect_queue(reactor, addresses, request, deadline);
    if (!queue) {
        co_return tl::unexpected<Error>(queue.error()); // names the address itself
    }
    std::unique_ptr<BriefAssociation> association(new BriefAssociation(reactor, std::move(*queue)));
    const Result<EnabledController> enabled =
        co_await enable_controller(association->admin_, command_set, deadline);
    if (!enabled) {
        co_await association->end();
        co_return failure_in(association->address_, enabled.error());
    }
    association->configuration_ = enabled->configuration;
    co_return std::move(association);
}

net::Task<int> BriefAssociation::end() {
    if (configuration_ != 0 && !admin_.closing()) {
        const Nanoseconds until = admin_.reactor().clock().now() + kGoodbye;
        co_await shut_down_controller(admin_, configuration_, until);
    }
    co_await admin_.close();
    co_return 0;
}

} // namespace mpath::nvme
