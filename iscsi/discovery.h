// SPDX-License-Identifier: GPL-2.0-only
// One discovery session, for just as long as it takes to ask for targets.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/send_targets.h"
#include "iscsi/session_options.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/task.h"

namespace mpath::iscsi {

struct TargetDiscovery {
    std::string address; ///< of the portal, as connected: "192.0.2.1:3260"
    /// Each has a portal at least. Numeric addresses are in canonical form; a link-local one has the zone
    /// through which the portal was reached, since a target can't know those of this host.
    std::vector<DiscoveredTarget> targets;
};

/// What the portal at the first of `addresses` that answers says to SendTargets: all targets that we may see,
/// or, where `target` isn't empty, that one and its portals. Codes are those of log_in(), and EPROTO for an
/// answer that breaks a rule. The sentence names the address. Uses no digests. `addresses` must stay until
/// the task has ended.
net::Task<Result<TargetDiscovery>> discover_targets(net::Reactor& reactor,
                                                    std::span<const net::SocketAddress> addresses,
                                                    SessionOptions options, std::string target,
                                                    Nanoseconds deadline);

} // namespace mpath::iscsi
