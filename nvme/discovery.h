// SPDX-License-Identifier: GPL-2.0-only
// What a discovery service knows, and all those it refers to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/reactor.h"
#include "net/task.h"
#include "nvme/discovery_controller.h"
#include "nvme/discovery_log.h"

namespace mpath::nvme {

/// How many referrals may lead from the first service to another one.
inline constexpr unsigned kMaxReferralDepth = 8;
/// Services that are asked in one discovery.
inline constexpr std::size_t kMaxDiscoveryServices = 256;

/// One port of an NVM subsystem. Its address is in canonical form; a link-local one has the zone through
/// which the service was reached that told of it, since that service can't know the zones of this host.
struct DiscoveredPort {
    DiscoveryEntry entry;
    std::string told_by; ///< address of the first service that told of it
};

struct Discovery {
    std::vector<std::string> services; ///< addresses of those that answered, in the order they were asked
    std::vector<DiscoveredPort> ports; ///< of all transports, each once, in the order they were found
    std::vector<std::string> warnings; ///< a sentence for each referral that led nowhere
};

/// Asks the discovery service of `host` (a name or address) on the first of `ports` that answers, then each
/// service referred to, once. Blocks while the host's name is resolved. Fails only when the first service
/// can't be asked, with a sentence for each port tried.
net::Task<Result<Discovery>> discover(net::Reactor& reactor, std::string host,
                                      std::vector<std::uint16_t> ports, BriefOptions options);

} // namespace mpath::nvme
