// SPDX-License-Identifier: GPL-2.0-only
// Asking running jobs for something, and what became of it, a line for each job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/running_jobs.h"

namespace mpath::cli {

struct Order {
    enum class What : std::uint8_t { policy, schedule, enable, disable };
    What what = What::policy;
    std::string policy;             ///< as iopolicy= takes it
    std::vector<std::string> paths; ///< names, or indices among the job's own paths
    /// The jobs were named one by one: each of them has to have the paths. Otherwise those that have them are
    /// meant.
    bool jobs_named = false;
};

enum class Fate : std::uint8_t {
    waiting, ///< it has not followed yet
    followed,
    not_started, ///< it begins with what it was asked for
    ended,       ///< before it followed
    killed,
    refused,
    overtaken,  ///< somebody else has asked it for something in the meantime
    left_alone, ///< it does not use the path
};

class Steering {
public:
    /// Asks all of `jobs`, which are some of the block's, or none: then the error says what is wrong with
    /// which.
    static Result<Steering> begin(const live::RunningBlock& block, const std::vector<live::JobSlot*>& jobs,
                                  const Order& order, const Clock& clock);

    struct Job {
        live::JobSlot* slot = nullptr;
        std::string label;
        Fate fate = Fate::waiting;
        std::string left;          ///< name of the setting it was in
        std::string going;         ///< name of the setting it was asked for; empty: to its schedule
        std::uint64_t request = 0; ///< number of the request; 0: it was not asked
        Nanoseconds asked_at = 0;
        Nanoseconds took = 0; ///< from asked to followed
        int refused = 0;      ///< errno
        std::string lacks;    ///< path that a job does not use, of those left alone
    };

    /// Looks whether more of them have followed. True when there is nothing to wait for any more.
    bool look(const Clock& clock);
    [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }

private:
    std::vector<Job> jobs_;
    Nanoseconds processes_seen_ = 0; ///< when it was looked whether they still run
};

/// One line without its end: "seq: round-robin -> queue-depth, followed in 3.12ms". `waited` is how long it
/// was waited for those that have not followed.
std::string outcome_line(const Steering::Job& job, Nanoseconds waited);

} // namespace mpath::cli
