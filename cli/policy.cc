// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath policy and fio-mpath path: steering jobs while they run.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/job_words.h"
#include "cli/running_jobs.h"
#include "cli/steering.h"
#include "live/control_block.h"
#include "multipath/io_policy.h"

namespace mpath::cli {

namespace {

struct SteeringWords {
    JobChoice choice;
    double wait = 10;
    std::string policy; ///< empty: not given
    bool schedule = false;
    std::vector<std::string> paths;
};

/// How often it is looked whether the jobs have followed; they take up to 10 ms.
constexpr auto kLookInterval = std::chrono::milliseconds(1);

constexpr const char* kOutcomes = R"(
It waits until every running job has followed, and prints a line for each:

  seq: round-robin -> queue-depth, followed in 3.12ms
  seq: has not started: begins with queue-depth
  seq: has not followed within 10.0s: asleep (thinktime= or rate=); it goes to queue-depth with its next I/O
  seq: was killed: its process 1234 is gone

Either all jobs that are meant are asked or none. Exit status: 0, also when a job sleeps or has not started;
1 when nobody was asked, or a job refused.)";

constexpr const char* kPolicyFooter = R"(
Examples:
  every job of the fio that runs:
    fio-mpath policy queue-depth
  one job, then back to its own schedule (steer=), which the command had suspended:
    fio-mpath policy preferred:b --job seq
    fio-mpath policy --schedule --job seq

The job goes on with the same paths; I/O that is under way ends where it was sent.
)";

constexpr const char* kPathFooter = R"(
Examples:
  no I/O on path b any more, then again:
    fio-mpath path disable b
    fio-mpath path enable b

A path that is disabled stays connected; I/O that is under way on it ends there. It is named by its name or its place
in the job's list (from 0), as fio-mpath top shows them. Jobs that do not use it are left alone, unless --job names them.
)";

void add_steering_options(CLI::App& app, SteeringWords& words) {
    add_job_options(app, words.choice);
    app.add_option("--wait", words.wait, "How long to wait for jobs that have not followed")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 86400.0))
        ->capture_default_str();
}

/// Prints a job's line as soon as its fate is known.
class Printer {
public:
    void print_settled(const std::vector<Steering::Job>& jobs) { print(jobs, false, 0); }
    void print_rest(const std::vector<Steering::Job>& jobs, Nanoseconds waited) { print(jobs, true, waited); }

private:
    void print(const std::vector<Steering::Job>& jobs, bool all, Nanoseconds waited) {
        printed_.resize(jobs.size());
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (!printed_[i] && (all || jobs[i].fate != Fate::waiting)) {
                fmt::print("{}\n", outcome_line(jobs[i], waited));
                printed_[i] = true;
            }
        }
        std::fflush(stdout);
    }

    std::vector<bool> printed_;
};

int steer(const SteeringWords& words, Order order) {
    const auto self = live::this_process();
    if (!self) {
        return complain(self.error().text);
    }
    const auto fio = choose_jobs(live::kBlockDirectory, *self, words.choice);
    if (!fio) {
        return complain(fio.error().text);
    }
    order.jobs_named = !words.choice.jobs.empty();
    const SystemClock clock;
    auto steering = Steering::begin(fio->block, fio->jobs, order, clock);
    if (!steering) {
        return complain(steering.error().text);
    }
    const auto patience = static_cast<Nanoseconds>(words.wait * static_cast<double>(kSecond));
    const Nanoseconds begin = clock.now();
    Printer printer;
    while (!steering->look(clock) && clock.now() - begin < patience) {
        printer.print_settled(steering->jobs());
        std::this_thread::sleep_for(kLookInterval);
    }
    printer.print_rest(steering->jobs(), patience);
    for (const Steering::Job& job : steering->jobs()) {
        if (job.fate == Fate::refused) {
            return 1;
        }
    }
    return 0;
}

int run_policy(const SteeringWords& words) {
    if (words.policy.empty() != words.schedule) {
        return complain(fmt::format("say which policy, {}, or --schedule",
                                    fmt::join(multipath::io_policy_names(), ", ")));
    }
    Order order;
    order.what = words.schedule ? Order::What::schedule : Order::What::policy;
    order.policy = words.policy;
    return steer(words, order);
}

Command add_path_switch(CLI::App& app, const std::shared_ptr<SteeringWords>& words, Order::What what,
                        const char* name, const char* help) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->footer(kOutcomes);
    sub->add_option("NAME", words->paths, "Paths: names, or places in the job's list")
        ->required()
        ->type_name("");
    add_steering_options(*sub, *words);
    return {sub, [words, what] {
                Order order;
                order.what = what;
                order.paths = words->paths;
                return steer(*words, order);
            }};
}

} // namespace

Command add_policy(CLI::App& parent) {
    auto words = std::make_shared<SteeringWords>();
    CLI::App* app = parent.add_subcommand("policy", "Switch running jobs to another iopolicy");
    app->footer(std::string(kPolicyFooter) + kOutcomes);
    app->add_option("NAME", words->policy, fmt::format("{}", fmt::join(multipath::io_policy_names(), ", ")))
        ->type_name("");
    app->add_flag("--schedule", words->schedule, "Back to each job's own schedule (steer=)");
    add_steering_options(*app, *words);
    return {app, [words] { return run_policy(*words); }};
}

Command add_path(CLI::App& parent) {
    auto words = std::make_shared<SteeringWords>();
    CLI::App* app = parent.add_subcommand("path", "Enable or disable a path of running jobs");
    app->footer(std::string(kPathFooter) + kOutcomes);
    app->require_subcommand(1);
    const Command enable =
        add_path_switch(*app, words, Order::What::enable, "enable", "Let jobs send I/O on a path again");
    const Command disable =
        add_path_switch(*app, words, Order::What::disable, "disable", "Let jobs send no more I/O on a path");
    return {app, [enable, disable] { return enable.app->parsed() ? enable.run() : disable.run(); }};
}

} // namespace mpath::cli
