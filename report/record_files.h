// SPDX-License-Identifier: GPL-2.0-only
// The records that a run of fio left behind.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "report/job.h"

namespace mpath::report {

/// The jobs of all records of these mpath_log= prefixes that were written at `since_utc` (nanoseconds since
/// 1970) or later. A prefix without any is no error.
[[nodiscard]] Result<std::vector<Job>> find_jobs(std::span<const std::string> prefixes,
                                                 Nanoseconds since_utc);

} // namespace mpath::report
