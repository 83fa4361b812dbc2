// SPDX-License-Identifier: GPL-2.0-only
// --run and --job, for every subcommand that looks at running jobs.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/running_jobs.h"

namespace mpath::cli {

/// `choice` must stay as long as `app` parses.
inline void add_job_options(CLI::App& app, JobChoice& choice) {
    app.add_option("--run", choice.run, "The fio with this process id; needed when several run")
        ->type_name("PID");
    app.add_option("--job", choice.jobs,
                   "Job NAME, with all its clones (numjobs=), or NAME#N, the one that fio numbers N; may be "
                   "given several times (default: all)")
        ->type_name("NAME")
        ->allow_extra_args(false);
}

} // namespace mpath::cli
