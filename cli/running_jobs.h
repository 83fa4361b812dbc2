// SPDX-License-Identifier: GPL-2.0-only
// Which jobs of which fio a command means: --run and --job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "live/running_block.h"

namespace mpath::cli {

struct JobChoice {
    std::optional<std::uint64_t> run; ///< pid of fio
    std::vector<std::string> jobs;    ///< NAME (with all its clones) or NAME#NUMBER; empty: every job
};

/// A running fio of this user.
struct RunningFio {
    live::RunningBlock block;
    std::vector<live::JobSlot*> jobs; ///< those that are meant

    [[nodiscard]] std::uint64_t pid() const { return block.owner().pid; }
};

/// The one fio that has the jobs of `choice`. Jobs that ended are not among them. One sentence when there is
/// none, when another user has it, and when several have such jobs: then it lists them.
Result<RunningFio> choose_jobs(const std::string& directory, const live::ProcessId& self,
                               const JobChoice& choice);

/// Blocks of this user's that can be read, and why others can't.
struct OpenBlocks {
    std::vector<live::RunningBlock> blocks;
    std::vector<Error> unreadable; ///< of another user, or of another version
};
OpenBlocks open_blocks(const std::string& directory, const live::ProcessId& self,
                       std::optional<std::uint64_t> run);

/// Why there is nothing to watch or to steer, in one sentence.
Error nothing_runs(const OpenBlocks& blocks, std::optional<std::uint64_t> run);

/// Whether `names`, as JobChoice::jobs, mean the job.
bool is_meant(const live::JobSlot& job, const std::vector<std::string>& names);

/// Its name; with #NUMBER, fio's number of the job, when others in `all` have the same name.
std::string job_label(const live::JobSlot& job, const std::vector<live::JobSlot*>& all);

} // namespace mpath::cli
