// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath paths: what is behind a URI, without doing I/O to it.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/duration.h"
#include "cli/command.h"
#include "cli/host_options.h"
#include "cli/path_report.h"
#include "cli/path_watch.h"
#include "job/protocol.h"
#include "net/async.h"
#include "target/options.h"

namespace mpath::cli {

namespace {

struct PathsWords {
    std::vector<std::string> uris;
    HostWords host;
    double timeout = 10;
    bool json = false;
    bool watch = false;
    std::string watch_for; ///< empty: until interrupted
    std::uint32_t keep_alive = 5;
    double reconnect_delay = static_cast<double>(kWatchReconnectDelay) / kSecond;
};

/// More than a job would ask for, to learn how many it may.
constexpr std::uint16_t kQueuesAsked = 1024;
constexpr std::uint16_t kEntriesAsked = 1024;

constexpr const char* kPathsFooter = R"(
Examples:
  fio-mpath paths nvme+tcp://192.0.2.1/nqn.2014-08.org.example:vol1/1 \
                  nvme+tcp://192.0.2.2/nqn.2014-08.org.example:vol1/1
  fio-mpath paths --json nvme+tcp://[2001:db8::1]:4420/nqn.2014-08.org.example:vol1/1

  for an hour, a line for each change:
    fio-mpath paths --watch --for 3600s nvme+tcp://192.0.2.1/nqn.2014-08.org.example:vol1/1

  fio-mpath paths iscsi://192.0.2.1/iqn.1992-08.com.example:vol1/0 iscsi://192.0.2.2/iqn.1992-08.com.example:vol1/0

A URI is nvme+tcp://HOST[:PORT]/NQN/NSID or iscsi://[USER@]HOST[:PORT]/TARGET/LUN, as in the engine's option paths=.
Nothing is written to the device.

With --watch it stays connected and prints a line for each change, until Ctrl-C or for --for: time (UTC), path, and
  connected  found at the start, or again after it was lost
  lost       the connection, the controller or the session
  state      of the path's group (ANA, ALUA), before and after
  refused    why it could not be connected; the same reason again and again is told once
  given_up   the target says that trying again is no use; the path is left alone from then on
  namespace  or LUN: resized, removed, exchanged or formatted

Exit status: 0 when every path answered, or, with --watch, was connected at the end; 1 when one did not, or was not.)";

FoundPath look_at(net::Reactor& reactor, const std::string& text, const job::ConnectOptions& options) {
    const auto uri = job::parse_path_uri(text);
    if (!uri) {
        return {text, tl::unexpected(uri.error())};
    }
    net::Cancellation never;
    const auto connector = job::make_connector(reactor, *uri, options);
    return {text, net::run_until_done(reactor, connector->look(never))};
}

Nanoseconds from_seconds(double seconds) {
    return static_cast<Nanoseconds>(seconds * static_cast<double>(kSecond));
}

int watch(const PathsWords& words, job::ConnectOptions options) {
    std::vector<job::PathUri> uris;
    for (const std::string& text : words.uris) {
        const auto uri = job::parse_path_uri(text);
        if (!uri) {
            return complain(uri.error().text);
        }
        uris.push_back(*uri);
    }
    Nanoseconds duration = kWatchForever;
    if (!words.watch_for.empty()) {
        const auto told = parse_duration(words.watch_for);
        if (!told) {
            return complain("--for: " + told.error().text);
        }
        duration = *told;
    }
    options.nvme.io_queues = options.iscsi.io_queues = 1;
    options.nvme.keep_alive_ms = options.iscsi.keep_alive_ms = words.keep_alive * 1000;
    job::LifeOptions life;
    life.reconnect_delay = from_seconds(words.reconnect_delay);
    life.ctrl_loss_tmo.reset();
    return watch_paths(uris, options, life, duration);
}

int run(const PathsWords& words) {
    auto options = words.host.options();
    if (!options) {
        return complain(options.error().text);
    }
    options->nvme.io_queues = kQueuesAsked;
    options->nvme.queue_size = kEntriesAsked;
    options->nvme.connect_timeout = options->iscsi.connect_timeout = from_seconds(words.timeout);
    if (words.watch) {
        return watch(words, *options);
    }

    const SystemClock clock;
    const auto reactor = net::make_reactor(clock, 16);
    if (!reactor) {
        return complain(reactor.error().text);
    }
    std::vector<FoundPath> paths;
    for (const std::string& uri : words.uris) {
        paths.push_back(look_at(**reactor, uri, *options));
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
    CLI::Option* json =
        app->add_flag("--json", words->json, "JSON instead of a table; absent values are null");
    CLI::Option* watch_flag =
        app->add_flag("--watch", words->watch, "Stay connected and print a line for each change")
            ->excludes(json);
    app->add_option("--for", words->watch_for, "Watch that long, such as 90s (default: until Ctrl-C)")
        ->type_name("DURATION")
        ->needs(watch_flag);
    app->add_option(
           "--keep-alive-tmo", words->keep_alive,
           "While watching: as the engine's keep_alive_tmo=; it bounds how long a silent path goes unnoticed")
        ->type_name("SECONDS")
        ->check(CLI::Range(0, 86400))
        ->capture_default_str()
        ->needs(watch_flag);
    app->add_option("--reconnect-delay", words->reconnect_delay,
                    "While watching: from the loss of a path to the next attempt to connect it")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 86400.0))
        ->capture_default_str()
        ->needs(watch_flag);
    return {app, [words] { return run(*words); }};
}

} // namespace mpath::cli
