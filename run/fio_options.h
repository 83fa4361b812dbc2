// SPDX-License-Identifier: GPL-2.0-only
// What the words after `--`, which go to fio as they are, mean for us.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace mpath::run {

struct FioOptions {
    std::vector<std::string> sections;     ///< of --section=; none: all
    std::optional<std::string> log_prefix; ///< of --mpath_log=
    bool output_is_data = false;           ///< JSON or terse output on stdout
    bool runs_jobs = true;                 ///< false with --parse-only, --showcmd and the like
};

/// Refuses what would take the job file's place, or ours.
[[nodiscard]] Result<FioOptions> read_fio_options(std::span<const std::string> words);

} // namespace mpath::run
