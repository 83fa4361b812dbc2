// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>

#include "base/clock.h"
#include "live/job_slot.h"
#include "record/intervals.h"
#include "record/results.h"

namespace mpath::live {

/// Cuts a job's counters into intervals: each sample is the difference to the one before. Not for the I/O
/// thread; any number of samplers may watch a job.
class Sampler {
public:
    explicit Sampler(const JobSlot& job) : job_(job) {}

    /// The interval from the sample before (first: from the end of the ramp) to now. Empty while nothing is
    /// measured yet. `connections` of its paths are left to the caller.
    std::optional<record::Interval> sample(Nanoseconds now, Nanoseconds utc);

private:
    const JobSlot& job_;
    record::JobResult before_;
};

} // namespace mpath::live
