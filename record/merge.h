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
/// added, the measured time is the union of both. Paths are the same when name and address are.
void merge(JobReport& into, const JobReport& other);

} // namespace mpath::record
