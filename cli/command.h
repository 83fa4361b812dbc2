// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace mpath::cli {

/// A subcommand: how to recognise that it was asked for, and what it does then. `run` gives the exit status.
struct Command {
    CLI::App* app = nullptr;
    std::function<int()> run;
};

// One function a subcommand, each in its own file; main.cc lists them.
Command add_discover(CLI::App& parent);
Command add_path(CLI::App& parent);
Command add_paths(CLI::App& parent);
Command add_policy(CLI::App& parent);
Command add_report(CLI::App& parent);
Command add_run(CLI::App& parent);
Command add_target(CLI::App& parent);
Command add_target_ctl(CLI::App& parent);
Command add_top(CLI::App& parent);

/// Says `fio-mpath: SENTENCE` on stderr and gives the exit status of a refusal.
int complain(const std::string& sentence);

} // namespace mpath::cli
