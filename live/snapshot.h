// SPDX-License-Identifier: GPL-2.0-only
// From counters in shared memory to values.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "live/job_slot.h"
#include "record/merge.h"

namespace mpath::live {

/// What `job` has measured so far, and what a legend says of its paths. While the job runs the numbers belong
/// to slightly different moments. A job that ended is measured until its end; of one that did not end
/// (running, or killed) `now` counts, but no later than its last activity when `now` is `kLastActivity`.
record::JobReport snapshot(const JobSlot& job, Nanoseconds now);

/// In the order of the slot's paths.
std::vector<std::string> path_names(const JobSlot& job);

/// Names of the settings that stand, by their index; the transition's is record::kTransition.
std::vector<std::string> setting_names(const JobSlot& job);

/// For a job that may have been killed long ago: until its last I/O was dispatched or came back.
inline constexpr Nanoseconds kLastActivity = 0;

} // namespace mpath::live
