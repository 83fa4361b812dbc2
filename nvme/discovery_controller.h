// SPDX-License-Identifier: GPL-2.0-only
// One association with a discovery controller, for just as long as it takes to read its log.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/task.h"
#include "nvme/brief_association.h"
#include "nvme/discovery_log.h"

namespace mpath::nvme {

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
                                                         std::string nqn, BriefOptions options);

} // namespace mpath::nvme
