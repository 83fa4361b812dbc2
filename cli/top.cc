// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath top: what running jobs do on each of their paths, and keys to steer them.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/duration.h"
#include "cli/command.h"
#include "cli/job_words.h"
#include "cli/top_session.h"
#include "cli/top_view.h"
#include "cli/top_watch.h"
#include "live/control_block.h"

namespace mpath::cli {

namespace {

struct TopWords {
    JobChoice choice;
    std::string interval = "1s";
    double wait = 0;
    bool json = false;
    bool once = false;
};

constexpr Nanoseconds kShortestInterval = 10 * kMillisecond;
constexpr auto kLookForRuns = std::chrono::milliseconds(20);
/// Plain lines between two heads.
constexpr std::size_t kLinesOfPage = 40;

constexpr const char* kTopFooter = R"(
Examples:
  watch everything that runs; keys are told at the bottom:
    fio-mpath top
  once, for a script:
    fio-mpath top --once --json
  begin before fio does, and write it down:
    fio-mpath top --wait 60 --interval 500ms > run.txt

On a terminal it is a screen; otherwise, with --once and with --json it prints lines: a row for each path and operation
of each job and interval, events between them. `use` says whether the job may send I/O on the path; mean and p99 are
response times on the path, depth the mean of I/Os outstanding on it, requeues and errors those of the interval.

Keys: j and k (or arrows) choose a job, 1 to 6 an iopolicy, e and d enable and disable a path by its number, s goes back
to the job's schedule, q quits.

It ends when no fio is left. Exit status: 0; 1 when there was none from the beginning.)";

void sleep_for(Nanoseconds time) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

/// Looks until a fio runs, for as long as --wait says.
bool wait_for_run(TopWatch& watch, double seconds, const Clock& clock) {
    const auto patience = static_cast<Nanoseconds>(seconds * static_cast<double>(kSecond));
    const Nanoseconds begin = clock.now();
    for (;;) {
        watch.find(clock.now(), clock.utc());
        if (watch.has_runs()) {
            return true;
        }
        if (clock.now() - begin >= patience) {
            return false;
        }
        std::this_thread::sleep_for(kLookForRuns);
    }
}

int say_the_end() {
    fmt::print(stderr, "fio-mpath: no fio with the engine mpath runs any more\n");
    return 0;
}

int print_lines(TopWatch& watch, const TopWords& words, Nanoseconds interval, const Clock& clock) {
    std::size_t lines = 0;
    for (Nanoseconds next = clock.now() + interval;; next += interval) {
        const Nanoseconds before = clock.now();
        sleep_for(next > before ? next - before : 0);
        const TopView view = watch.look(clock.now(), clock.utc());
        if (!watch.has_runs()) {
            return say_the_end();
        }
        if (words.json) {
            fmt::print("{}", json_lines(view));
        } else {
            const std::string text = plain_text(view, lines % kLinesOfPage == 0);
            fmt::print("{}", text);
            lines += text.empty() ? 0 : 1;
        }
        if (std::fflush(stdout) != 0) {
            return complain("standard output can't be written");
        }
        if (words.once) {
            return 0;
        }
    }
}

int run_top(const TopWords& words) {
    const auto interval = parse_duration(words.interval);
    if (!interval || *interval < kShortestInterval) {
        return complain(interval ? "--interval is at least 10ms" : "--interval: " + interval.error().text);
    }
    const auto self = live::this_process();
    if (!self) {
        return complain(self.error().text);
    }
    const SystemClock clock;
    TopWatch watch(live::kBlockDirectory, *self, words.choice);
    if (!wait_for_run(watch, words.wait, clock)) {
        return complain(watch.nothing().text);
    }
    if (words.json || words.once || !Terminal::usable()) {
        return print_lines(watch, words, *interval, clock);
    }
    const bool over = TopSession(watch, *interval, clock).run(); // and the terminal is as it was
    return over ? say_the_end() : 0;
}

} // namespace

Command add_top(CLI::App& parent) {
    auto words = std::make_shared<TopWords>();
    CLI::App* app = parent.add_subcommand("top", "Watch running jobs, path by path, and steer them");
    app->footer(kTopFooter);
    add_job_options(*app, words->choice);
    app->add_option("--interval", words->interval, "What the numbers are of, such as 500ms")
        ->type_name("DURATION")
        ->capture_default_str();
    app->add_flag("--once", words->once, "Print one interval and end");
    app->add_flag("--json", words->json,
                  "A JSON object a line, for each job and interval; absent values are null");
    app->add_option("--wait", words->wait, "How long to wait for a fio to begin")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
    return {app, [words] { return run_top(*words); }};
}

} // namespace mpath::cli
