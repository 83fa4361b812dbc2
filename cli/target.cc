// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath target: the embedded NVMe/TCP and iSCSI target.
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/target_words.h"
#include "target/fault/script.h"
#include "target/misdeed.h"
#include "target/server.h"
#include "target/status_report.h"

namespace mpath::cli {

namespace {

constexpr const char* kTargetFooter = R"(
Examples:
  two paths, the second one slower and not preferred:
    fio-mpath target --listen 127.0.0.1:4420,name=a \
                     --listen 127.0.0.1:4421,name=b,ana=non-optimized,delay=200us
  the same over iSCSI, the second portal in standby:
    fio-mpath target --iscsi 127.0.0.1:3260,name=a --iscsi 127.0.0.1:3261,name=b,ana=standby
  as fast as it goes, storing nothing:
    fio-mpath target --listen 127.0.0.1:4420 --null --size 1T --poll
  everything that a controller may choose, at random:
    fio-mpath target --vary 42
  a path that is lost 2 s after the first I/O, and comes back 3 s later:
    echo 'at 2s for 3s on a down' > lost.script
    fio-mpath target --listen 127.0.0.1:4420,name=a --listen 127.0.0.1:4421,name=b --script lost.script

It says where it takes statements of `fio-mpath target-ctl`, where it listens, a paths= line for each namespace and protocol, and `ready`; at its end, what each listener served.
All listeners show the same namespaces; LUN n is the one with NSID n + 1. Associations that are silent for longer than their keep-alive timeout
(rounded up to 100 ms, counted from the last Keep Alive received) are dropped.

Scripts have one statement a line, # begins a comment. docs/target.md explains them; in short

  [at TIME] [every TIME [times N]] [for TIME] on WHERE ACTION [or ACTION ...]
  after N|every N commands|reads|writes [times N] [for TIME] on WHERE ACTION [or ACTION ...]

TIME is 500ms, or anything between 1s..3s, from the first I/O command on. WHERE is NAME, NAME+NAME, all or any
[of NAME+NAME], then, where that makes sense, group N, controller N, session N, queue N, command KIND[/N].

Actions, some of them with further words: dnr, crd N, count N (commands):
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
                            target::to_string(listener->options.ana, listener->options.protocol),
                            static_cast<double>(listener->options.delay) / kMicrosecond);
    }
    for (std::uint32_t nsid = 1; nsid <= server.subsystem().namespace_count(); ++nsid) {
        for (const auto protocol : {target::Protocol::nvme_tcp, target::Protocol::iscsi}) {
            const std::string paths = paths_of(server, nsid, protocol);
            text += paths.empty() ? "" : fmt::format("paths={}\n", paths);
        }
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

/// What is given on the command line beside the target itself; returns what to say of it.
Result<std::string> prepare_faults(target::Server& server, const TargetWords& words) {
    if (!words.fault_log.empty()) {
        if (auto logged = server.log_faults(words.fault_log); !logged) {
            return tl::unexpected(logged.error());
        }
    }
    if (!words.script.empty()) {
        std::ifstream file(words.script);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (!file) {
            return failure(errno, "cannot read {}: {}", words.script, std::strerror(errno));
        }
        if (auto taken = server.take_script(text, words.script); !taken) {
            return tl::unexpected(taken.error());
        }
    }
    if (words.no_control) {
        return std::string();
    }
    const auto path = server.open_control(words.control);
    if (!path && !words.control.empty()) {
        return tl::unexpected(path.error());
    }
    return path ? fmt::format("control {}\n", *path) : std::string();
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
    const auto control = prepare_faults(**server, words);
    if (!control) {
        return complain(control.error().text);
    }
    const std::string text = *control + ready_text(**server);
    if (!words.ready_file.empty()) {
        if (auto written = write_file(words.ready_file, text); !written) {
            return complain(written.error().text);
        }
    }
    fmt::print("{}", text);
    std::fflush(stdout);
    (*server)->run();
    fmt::print("{}", target::served_text(**server));
    return 0;
}

} // namespace

Command add_target(CLI::App& parent) {
    auto words = std::make_shared<TargetWords>();
    CLI::App* app = parent.add_subcommand(
        "target", "An NVMe/TCP and iSCSI target in memory with several paths, for trying "
                  "out, dry runs and tests");
    app->footer(kTargetFooter + target::describe_actions() + "\nWhat --break and `lie` can do wrong:\n" +
                target::describe_misdeeds() + "\nWhat `lie` can have the ANA log say:\n" +
                target::describe_ana_lies());
    add_target_options(*app, *words);
    return {app, [words] { return serve(*words); }};
}

} // namespace mpath::cli
