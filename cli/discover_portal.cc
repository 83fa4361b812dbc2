// SPDX-License-Identifier: GPL-2.0-only
#include "cli/discover_portal.h"

#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/portal_report.h"
#include "iscsi/ask_luns.h"
#include "net/address.h"
#include "net/async.h"

namespace mpath::cli {
namespace {

/// The LUNs of a target, from its first portal that answers.
Result<std::vector<std::uint64_t>> ask_target(net::Reactor& reactor, const iscsi::DiscoveredTarget& target,
                                              const iscsi::SessionOptions& options) {
    Error error{ENOTSUP, "it has no portal"};
    for (const iscsi::Portal& portal : target.portals) {
        const auto addresses = net::resolve(portal.host, portal.port);
        if (!addresses) {
            error = addresses.error();
            continue;
        }
        auto luns = net::run_until_done(reactor, iscsi::list_luns(reactor, *addresses, target.name, options));
        if (luns) {
            return luns;
        }
        error = luns.error();
    }
    return tl::unexpected<Error>(error);
}

} // namespace

int discover_portal(const std::string& host, std::uint16_t port, const iscsi::SessionOptions& options,
                    bool json) {
    const SystemClock clock;
    const auto reactor = net::make_reactor(clock, 16);
    if (!reactor) {
        return complain(reactor.error().text);
    }
    const auto addresses = net::resolve(host, port);
    if (!addresses) {
        return complain(addresses.error().text);
    }
    const auto found =
        net::run_until_done(**reactor, iscsi::discover_targets(**reactor, *addresses, options, "",
                                                               clock.now() + options.connect_timeout));
    if (!found) {
        return complain(found.error().text);
    }
    std::vector<FoundTarget> targets;
    for (const iscsi::DiscoveredTarget& target : found->targets) {
        targets.push_back({target, ask_target(**reactor, target, options)});
    }
    if (json) {
        fmt::print("{}\n", portal_json(found->address, targets).dump(2));
    } else {
        fmt::print("{}", portal_table(found->address, targets));
    }
    std::fflush(stdout);
    return 0;
}

} // namespace mpath::cli
