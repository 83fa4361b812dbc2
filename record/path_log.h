// SPDX-License-Identifier: GPL-2.0-only
// The time series of a job's paths as CSV: a file that any spreadsheet or plotting tool reads, with what was
// switched and what happened to the paths between the numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/events.h"
#include "record/intervals.h"
#include "record/lines_file.h"
#include "record/visit.h"

namespace mpath::record {

/// The job went from one setting to another.
struct Switch {
    Nanoseconds at = 0;                ///< CLOCK_MONOTONIC
    std::optional<std::string> from{}; ///< empty: nobody knows any more
    std::string to;
    VisitCause cause = VisitCause::schedule;
    std::optional<Nanoseconds> delay{}; ///< asked for to first I/O
};

/// What happened up to an interval's end, and the interval.
struct PathLogPart {
    Interval interval;
    std::vector<Switch> switches;
    std::vector<Event> events;
};

/// Not for the I/O thread.
class PathLogWriter {
public:
    /// Makes the file anew; its first line names the columns. `path_names` are those of the events' indices.
    static Result<PathLogWriter> create(const std::string& file, std::vector<std::string> path_names);
    /// In the order of time, the interval's rows last. Milliseconds count from `measured_from`; what happened
    /// before has negative ones.
    Result<void> append(const PathLogPart& part, Nanoseconds measured_from);

private:
    PathLogWriter(LinesFile lines, std::vector<std::string> path_names)
        : lines_(std::move(lines)), path_names_(std::move(path_names)) {}

    LinesFile lines_;
    std::vector<std::string> path_names_;
};

/// A field of a CSV file, quoted where RFC 4180 asks for it.
std::string csv_field(std::string_view text);

} // namespace mpath::record
