// SPDX-License-Identifier: GPL-2.0-only
// One association with a discovery controller: just long enough to read its log. No keep-alive is asked for
// (KATO 0, which every discovery controller has to take), and no events.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/socket_options.h"
#include "net/task.h"
#include "nvme/discovery_log.h"
#include "nvme/host.h"
#include "nvme/pdu_options.h"

namespace mpath::nvme {

struct DiscoveryOptions {
    HostIdentity host;
    net::SocketOptions socket{};
    PduOptions pdu{};
    Nanoseconds timeout = 0; ///< for everything one discovery controller has to say

    bool operator==(const DiscoveryOptions&) const = default;
};

struct DiscoveryAnswer {
    std::string address; ///< of the service, as connected: "192.0.2.1:8009"
    std::vector<DiscoveryEntry> entries;
};

/// The log of the discovery service `nqn` at the first of `addresses` that answers, as it was at one moment:
/// a log that changes while it is read is read again, a bounded number of times, and EAGAIN at the end.
/// Further codes are those of connect_queue(), and EPROTO for a log that breaks a rule. The sentence names
/// the address. `addresses` must stay until the task has ended.
net::Task<Result<DiscoveryAnswer>> ask_discovery_service(net::Reactor& reactor,
                                                         std::span<const net::SocketAddress> addresses,
                                                         std::string nqn, DiscoveryOptions options);

} // namespace mpath::nvme
