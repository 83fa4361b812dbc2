// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/running_jobs.h"
#include "cli/steering.h"
#include "cli/top_view.h"
#include "live/sampler.h"

namespace mpath::cli {

/// Follows all running fio of this user, those that begin later as well.
class TopWatch {
public:
    TopWatch(std::string directory, live::ProcessId self, JobChoice choice)
        : directory_(std::move(directory)), self_(self), choice_(std::move(choice)) {}

    /// Finds what runs. The numbers of the next look() are from here on.
    void find(Nanoseconds now, Nanoseconds utc);
    /// Numbers since the call before, or since a job that is new was found.
    TopView look(Nanoseconds now, Nanoseconds utc);
    /// Whether any fio was there at the last look, with jobs that are meant.
    [[nodiscard]] bool has_runs() const;
    /// Why there is none.
    [[nodiscard]] Error nothing() const;

    /// Asks the job of that place in the last view, or each of them. What can't be asked is told in `errors`.
    std::vector<Steering> ask(std::optional<std::size_t> index, const Order& order, const Clock& clock,
                              std::vector<Error>& errors) const;

private:
    struct Watched {
        live::JobSlot* slot;
        live::Sampler sampler;
        std::size_t events_seen = 0;
        bool told = false; ///< that it has ended
    };
    struct Run {
        live::RunningBlock block;
        std::vector<Watched> jobs;
    };

    void find_runs();

    std::string directory_;
    live::ProcessId self_;
    JobChoice choice_;
    std::vector<std::unique_ptr<Run>> runs_;
    OpenBlocks last_found_; ///< without its blocks
};

} // namespace mpath::cli
