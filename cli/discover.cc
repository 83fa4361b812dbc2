// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath discover: which subsystems or targets a service knows, and which paths lead to what they have.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/discover_portal.h"
#include "cli/discovery_report.h"
#include "cli/host_options.h"
#include "iscsi/wire/pdu.h"
#include "net/address.h"
#include "net/async.h"
#include "net/uri_text.h"
#include "nvme/discovery.h"
#include "nvme/namespace_list.h"
#include "nvme/uri.h"

namespace mpath::cli {

namespace {

struct DiscoverWords {
    std::string service;
    HostWords host;
    std::string host_traddr;
    std::string host_iface;
    double timeout = 10;
    bool json = false;
};

constexpr const char* kDiscoverFooter = R"(
Examples:
  fio-mpath discover 192.0.2.1
  fio-mpath discover --json array.example.org:8009
  fio-mpath discover iscsi://192.0.2.1

iscsi://HOST[:PORT], or port 3260, asks an iSCSI portal by SendTargets; everything else an NVMe discovery service.
Without PORT, 8009 is asked, and 4420 when nothing answers there. Services that it refers to are asked as well,
each once. Last come paths= lines, one for each namespace or LUN, ready for a job file or for `fio-mpath paths`.
Exit status: 0 when the service answered, 1 when it did not; a dead referral is only told of.)";

/// The namespaces of a subsystem, from its first port that answers.
Result<std::vector<std::uint32_t>> ask_subsystem(net::Reactor& reactor, const FoundSubsystem& subsystem,
                                                 const nvme::BriefOptions& options) {
    Error error{ENOTSUP, "no port of it can be used"};
    for (const nvme::DiscoveredPort& port : subsystem.ports) {
        if (!port.entry.obstacle().empty()) {
            continue;
        }
        const auto addresses = net::resolve(port.entry.address, port.entry.port());
        if (!addresses) {
            error = addresses.error();
            continue;
        }
        auto nsids =
            net::run_until_done(reactor, nvme::list_namespaces(reactor, *addresses, subsystem.nqn, options));
        if (nsids) {
            return nsids;
        }
        error = nsids.error();
    }
    return tl::unexpected<Error>(error);
}

int run(const DiscoverWords& words) {
    constexpr std::string_view kIscsi = "iscsi://";
    std::string_view place = words.service;
    const bool is_iscsi = place.starts_with(kIscsi);
    if (is_iscsi) {
        place.remove_prefix(kIscsi.size());
    }
    const auto service = net::parse_host_port(place, is_iscsi ? iscsi::kDefaultPort : nvme::kDefaultPort);
    if (!service) {
        return complain(service.error().text);
    }
    auto connect = words.host.options();
    if (!connect) {
        return complain(connect.error().text);
    }
    net::SocketOptions socket;
    socket.source = words.host_traddr;
    socket.interface = words.host_iface;
    const auto timeout = static_cast<Nanoseconds>(words.timeout * static_cast<double>(kSecond));
    if (is_iscsi || service->port == iscsi::kDefaultPort) {
        connect->iscsi.socket = socket;
        connect->iscsi.connect_timeout = timeout;
        return discover_portal(service->host, service->port == 0 ? iscsi::kDefaultPort : service->port,
                               connect->iscsi, words.json);
    }
    const nvme::BriefOptions options{connect->nvme.host, socket, timeout};

    const SystemClock clock;
    const auto reactor = net::make_reactor(clock, 16);
    if (!reactor) {
        return complain(reactor.error().text);
    }
    const std::vector<std::uint16_t> ports =
        service->port != 0 ? std::vector<std::uint16_t>{service->port}
                           : std::vector<std::uint16_t>{nvme::kDiscoveryPort, nvme::kDefaultPort};
    const auto found =
        net::run_until_done(**reactor, nvme::discover(**reactor, service->host, ports, options));
    if (!found) {
        return complain(found.error().text);
    }
    std::vector<FoundSubsystem> subsystems = by_subsystem(*found);
    for (FoundSubsystem& subsystem : subsystems) {
        subsystem.nsids = ask_subsystem(**reactor, subsystem, options);
    }
    if (words.json) {
        fmt::print("{}\n", discovery_json(*found, subsystems).dump(2));
    } else {
        fmt::print("{}", discovery_table(*found, subsystems));
    }
    std::fflush(stdout);
    for (const std::string& warning : found->warnings) {
        complain(warning);
    }
    return 0;
}

} // namespace

Command add_discover(CLI::App& parent) {
    auto words = std::make_shared<DiscoverWords>();
    CLI::App* app = parent.add_subcommand(
        "discover", "Which paths there are, from a discovery service or an iSCSI portal");
    app->footer(kDiscoverFooter);
    app->add_option(
           "HOST", words->service,
           "HOST[:PORT] or iscsi://HOST[:PORT] to ask: a name or an address; IPv6 with a port in brackets")
        ->required()
        ->type_name("");
    words->host.add_to(*app);
    app->add_option("--host-traddr", words->host_traddr,
                    "Address of this host to connect from (default: the kernel chooses)")
        ->type_name("ADDRESS");
    app->add_option("--host-iface", words->host_iface,
                    "Interface of this host to connect through (default: the kernel chooses)")
        ->type_name("NAME");
    app->add_option("--timeout", words->timeout, "Seconds each service and subsystem has to answer")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.001, 3600.0))
        ->capture_default_str();
    app->add_flag("--json", words->json, "JSON instead of a table; absent values are null");
    return {app, [words] { return run(*words); }};
}

} // namespace mpath::cli
