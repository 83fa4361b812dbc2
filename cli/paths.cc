// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath paths: what is behind a URI, without doing I/O to it.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/host_options.h"
#include "cli/path_report.h"
#include "net/async.h"
#include "nvme/controller.h"

namespace mpath::cli {

namespace {

struct PathsWords {
    std::vector<std::string> uris;
    HostWords host;
    double timeout = 10;
    bool json = false;
};

/// More than a job would ask for, to learn how many it may.
constexpr std::uint16_t kQueuesAsked = 1024;
constexpr std::uint16_t kEntriesAsked = 1024;

constexpr const char* kPathsFooter = R"(
Examples:
  fio-mpath paths nvme+tcp://192.0.2.1/nqn.2014-08.org.example:vol1/1 \
                  nvme+tcp://192.0.2.2/nqn.2014-08.org.example:vol1/1
  fio-mpath paths --json nvme+tcp://[2001:db8::1]:4420/nqn.2014-08.org.example:vol1/1

A URI is nvme+tcp://HOST[:PORT]/NQN/NSID, as in the engine's option paths=. Nothing is written to the device.
Exit status: 0 when every path answered, 1 when one did not.)";

using Facts = Result<nvme::ControllerFacts>;

net::Task<Facts> look(net::Reactor& reactor, nvme::Uri uri, nvme::ControllerOptions options) {
    auto controller = co_await nvme::Controller::connect(reactor, std::move(uri), options);
    if (!controller) {
        co_return tl::unexpected(controller.error());
    }
    const nvme::ControllerFacts facts = (*controller)->facts();
    co_await (*controller)->shutdown(reactor.clock().now() + options.connect_timeout);
    co_return facts;
}

Facts look_at(net::Reactor& reactor, const std::string& text, const nvme::ControllerOptions& options) {
    const auto uri = nvme::parse_uri(text);
    if (!uri) {
        return tl::unexpected(uri.error());
    }
    return net::run_until_done(reactor, look(reactor, *uri, options));
}

int run(const PathsWords& words) {
    const auto host = words.host.identity();
    if (!host) {
        return complain(host.error().text);
    }
    nvme::ControllerOptions options;
    options.host = *host;
    options.io_queues = kQueuesAsked;
    options.queue_size = kEntriesAsked;
    options.connect_timeout = static_cast<Nanoseconds>(words.timeout * static_cast<double>(kSecond));

    const SystemClock clock;
    const auto reactor = net::make_reactor(clock, 16);
    if (!reactor) {
        return complain(reactor.error().text);
    }
    std::vector<FoundPath> paths;
    for (const std::string& uri : words.uris) {
        paths.push_back({uri, look_at(**reactor, uri, options)});
    }
    if (words.json) {
        fmt::print("{}\n", path_json(paths).dump(2));
    } else {
        fmt::print("{}", path_table(paths));
    }
    std::fflush(stdout);
    int status = 0;
    for (const FoundPath& path : paths) {
        if (!path.facts) {
            status = complain(fmt::format("{}: {}", path.uri, path.facts.error().text));
        }
    }
    return status;
}

} // namespace

Command add_paths(CLI::App& parent) {
    auto words = std::make_shared<PathsWords>();
    CLI::App* app = parent.add_subcommand("paths", "What is behind paths: device, limits, groups, states");
    app->footer(kPathsFooter);
    app->add_option("URI", words->uris, "Paths to look at")->required()->type_name("");
    words->host.add_to(*app);
    app->add_option("--timeout", words->timeout, "Seconds each path has to answer")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.001, 3600.0))
        ->capture_default_str();
    app->add_flag("--json", words->json, "JSON instead of a table; absent values are null");
    return {app, [words] { return run(*words); }};
}

} // namespace mpath::cli
