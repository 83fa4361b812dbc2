// SPDX-License-Identifier: GPL-2.0-only
// A job file for another ioengine becomes one for ours: the same sections and lines, but for those that name
// the engine and the devices. What would be a job on files is refused, never turned loose on a device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "run/device_map.h"
#include "run/job_file.h"
#include "run/section_options.h"

namespace mpath::run {

/// What `fio-mpath run` was asked for.
struct Wish {
    std::string engine; ///< file of the shared object, absolute
    std::optional<std::string> paths;
    std::vector<std::string> maps;                                   ///< FILENAME=PATHS
    std::vector<std::pair<std::string, std::string>> engine_options; ///< for every job
    std::vector<std::string> sections;                               ///< only these jobs; none: all
    /// Prefix of the records of jobs whose mpath_log= the job file does not set; empty: fio's command line
    /// does.
    std::string log_prefix;
};

/// The machine the job file is read on.
struct Surroundings {
    Environment environment;
    KindOfFile kind_of_file;
};

struct Transformed {
    std::string text;                      ///< the job file for fio
    std::vector<std::string> notes;        ///< one sentence each: what was left out and why
    std::vector<std::string> log_prefixes; ///< of all records, each once
};

/// Every error names section, file and line.
[[nodiscard]] Result<Transformed> transform(std::span<const Section> sections, const Wish& wish,
                                            const Surroundings& surroundings);

} // namespace mpath::run
