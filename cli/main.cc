// SPDX-License-Identifier: GPL-2.0-only
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"

namespace mpath::cli {

namespace {

/// In the order of the help text. A new subcommand is a file, a declaration in command.h and a line here.
constexpr Command (*kSubcommands[])(CLI::App&) = {
    add_paths, add_discover, add_run, add_report, add_policy, add_path, add_top, add_target, add_target_ctl,
};

constexpr const char* kFooter = R"(
Where to begin: in one terminal, a target with two paths, the second one slower,

  fio-mpath target --listen 127.0.0.1:4420,name=fast --listen 127.0.0.1:4421,name=slow,delay=200us

and in another the distribution's fio, with the paths= line that the target prints:

  fio --name=both --ioengine=external:/path/to/fio-mpath.so --thread=1 --rw=randread --bs=4k \
      --iodepth=32 --time_based --runtime=10 --paths='...'

`fio-mpath COMMAND --help` explains each command.)";

int run(int argc, char** argv) {
    CLI::App app("Every path between this host and a block device, as a first-class thing in fio.",
                 "fio-mpath");
    app.set_version_flag("--version", fmt::format("fio-mpath {}", MPATH_VERSION));
    app.require_subcommand(1);
    app.footer(kFooter);
    std::vector<Command> commands;
    for (const auto add : kSubcommands) {
        commands.push_back(add(app));
    }
    if (argc == 1) {
        fmt::print("{}", app.help());
        return 0;
    }
    CLI11_PARSE(app, argc, argv);
    for (const auto& command : commands) {
        if (command.app->parsed()) {
            return command.run();
        }
    }
    return 0;
}

} // namespace

int complain(const std::string& sentence) {
    fmt::print(stderr, "fio-mpath: {}\n", sentence);
    return 1;
}

} // namespace mpath::cli

int main(int argc, char** argv) {
    try {
        return mpath::cli::run(argc, argv);
    } catch (const std::exception& fault) {
        return mpath::cli::complain(fault.what());
    }
}
