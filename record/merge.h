// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "record/conditions.h"
#include "record/results.h"

namespace mpath::record {

/// A job's results with what a table says about its paths; `conditions` is as long as `result.paths`.
struct JobReport {
    JobResult result;
    std::vector<PathConditions> conditions;
};

/// Adds `other` to `into`, as fio does for jobs under group_reporting: counts, histograms and areas are
/// added, the measured time is the union of both. Paths are the same when name and address are, settings when
/// the name is. Events are told with the name of their job from then on.
void merge(JobReport& into, const JobReport& other);

/// Adds another run of the same job, laid behind `into` in time.
void merge_repeat(JobReport& into, JobReport other);

/// Says of each event whose it is, unless it does already: NAME#N, as --job= of the command takes it.
void name_events(JobResult& job);

/// Moves a report in time, so that it begins at `from`: clocks of other hosts have nothing to do with ours.
void begin_at(JobReport& report, Nanoseconds from);

} // namespace mpath::record
