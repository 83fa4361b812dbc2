// SPDX-License-Identifier: GPL-2.0-only
// One job of a run, as a report knows it: its record, and what was written beside it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/intervals.h"
#include "record/record.h"
#include "record/visits_file.h"

namespace mpath::report {

struct Job {
    std::string file; ///< of the record, as it was named
    record::Record record;
    std::vector<record::Interval> intervals; ///< none: none were written, or `missing` says why
    record::Visits visits;                   ///< likewise
    std::vector<std::string> missing;        ///< what should be here and is not, a sentence each

    /// Nanoseconds since 1970 of a moment of the job's monotonic clock. Exact where an interval or an event
    /// tells both clocks; otherwise the record is taken to have been written as measuring ended.
    [[nodiscard]] Nanoseconds utc_of(Nanoseconds monotonic) const;
    /// When measuring began and ended, nanoseconds since 1970; 0: nothing was measured.
    [[nodiscard]] Nanoseconds began_utc() const;
    [[nodiscard]] Nanoseconds ended_utc() const;
};

/// A record that can't be read is an error, in one sentence; a time series or visits that can't are missing.
[[nodiscard]] Result<Job> load_job(const std::string& file);

/// The jobs of one fio, on one host or several, in order of server and thread number.
struct Run {
    std::string name; ///< what the names of its records begin with
    std::vector<Job> jobs;
};

[[nodiscard]] Run make_run(std::string name, std::vector<Job> jobs);

/// Jobs are of one run whose records share folder and prefix; others that were measured at the same time are,
/// too, if they ran on another host or have another thread number. In the order in which the runs began.
[[nodiscard]] std::vector<Run> runs_of(std::vector<Job> jobs);

} // namespace mpath::report
