// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath target: the embedded NVMe/TCP target.
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/target_words.h"
#include "target/misdeed.h"
#include "target/server.h"

namespace mpath::cli {

namespace {

constexpr const char* kTargetFooter = R"(
Examples:
  two paths, the second one slower and not preferred:
    fio-mpath target --listen 127.0.0.1:4420,name=a \
                     --listen 127.0.0.1:4421,name=b,ana=non-optimized,delay=200us
  as fast as it goes, storing nothing:
    fio-mpath target --listen 127.0.0.1:4420 --null --size 1T --poll
  everything that a controller may choose, at random:
    fio-mpath target --vary 42

It says where it listens, a paths= line for each namespace, and `ready`; at its end, what each listener served.
All listeners show the same namespaces. Associations that are silent for longer than their keep-alive timeout
(rounded up to 100 ms, counted from the last Keep Alive received) are dropped.

What --break can do wrong:
)";

target::Server* serving = nullptr;

void stop_serving(int /*signal*/) {
    serving->stop();
}

void stop_on_signals(target::Server& server, double exit_after) {
    serving = &server;
    struct sigaction action {};
    action.sa_handler = stop_serving;
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) {
        ::sigaction(number, &action, nullptr);
    }
    if (exit_after > 0) {
        itimerval timer{};
        timer.it_value.tv_sec = static_cast<time_t>(exit_after);
        timer.it_value.tv_usec =
            static_cast<suseconds_t>((exit_after - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
        ::setitimer(ITIMER_REAL, &timer, nullptr);
    }
}

std::string ready_text(const target::Server& server) {
    std::string text;
    for (const auto& listener : server.listeners()) {
        if (listener->discovery_only) {
            text += fmt::format("discovery {} {}\n", listener->options.name, listener->address);
            continue;
        }
        text += fmt::format("listening {} {} {} delay {} us\n", listener->options.name, listener->address,
                            target::to_string(listener->options.ana),
                            static_cast<double>(listener->options.delay) / kMicrosecond);
    }
    for (std::uint32_t nsid = 1; nsid <= server.subsystem().namespace_count(); ++nsid) {
        text += fmt::format("paths={}\n", paths_of(server, nsid));
    }
    if (server.subsystem().options().vary) {
        text += fmt::format("varying with seed {}\n", server.subsystem().options().seed);
    }
    return text + "ready\n";
}

/// Whole or not at all: who waits for the file may read it as soon as it is there.
Result<void> write_file(const std::string& name, const std::string& text) {
    const std::string aside = name + ".new";
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(aside.c_str(), "w"), std::fclose);
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0 || std::rename(aside.c_str(), name.c_str()) != 0) {
        return failure(errno, "cannot write {}: {}", name, std::strerror(errno));
    }
    return {};
}

void print_counters(const target::Server& server) {
    for (const auto& listener : server.listeners()) {
        const target::Counters& seen = listener->counters;
        fmt::print("served {} connections={} associations={} discoveries={} reads={} read_bytes={} writes={} "
                   "write_bytes={} fua_writes={} flushes={} deallocates={} write_zeroes={} refused={} "
                   "violations={} host_term_reqs={} host_fes={} host_fei={} header_digest_errors={} "
                   "data_digest_errors={} expired={}\n",
                   listener->options.name, seen.connections, seen.associations, seen.discoveries, seen.reads,
                   seen.read_bytes, seen.writes, seen.write_bytes, seen.fua_writes, seen.flushes,
                   seen.deallocates, seen.write_zeroes, seen.refused, seen.violations, seen.host_term_reqs,
                   seen.host_fes, seen.host_fei, seen.header_digest_errors, seen.data_digest_errors,
                   seen.expired);
    }
}

int serve(const TargetWords& words) {
    const auto options = read_target_words(words);
    if (!options) {
        return complain(options.error().text);
    }
    const SystemClock clock;
    auto server = target::Server::create(*options, clock);
    if (!server) {
        return complain(server.error().text);
    }
    stop_on_signals(**server, words.exit_after);
    if (words.until_stdin_closes) {
        if (auto watched = (*server)->stop_when_closed(STDIN_FILENO); !watched) {
            return complain("--until-stdin-closes needs a pipe or a terminal: " + watched.error().text);
        }
    }
    const std::string text = ready_text(**server);
    if (!words.ready_file.empty()) {
        if (auto written = write_file(words.ready_file, text); !written) {
            return complain(written.error().text);
        }
    }
    fmt::print("{}", text);
    std::fflush(stdout);
    (*server)->run();
    print_counters(**server);
    return 0;
}

} // namespace

Command add_target(CLI::App& parent) {
    auto words = std::make_shared<TargetWords>();
    CLI::App* app =
        parent.add_subcommand("target", "An NVMe/TCP target in memory with several paths, for trying "
                                        "out, dry runs and tests");
    app->footer(kTargetFooter + target::describe_misdeeds());
    add_target_options(*app, *words);
    return {app, [words] { return serve(*words); }};
}

} // namespace mpath::cli
