// SPDX-License-Identifier: GPL-2.0-only
// A job's results as people see them after fio's statistics, and as scripts find them in fio's JSON.
#pragma once

#include <cstddef>
#include <string>

#include "record/merge.h"

namespace mpath::record {

inline constexpr std::size_t kTableWidth = 100; ///< characters

/// Legend of the paths, a row for each path, setting and operation that had I/O, their sum, a line for each
/// event. No line is wider than kTableWidth; names are clipped, numbers never. Ends with a newline.
std::string render_table(const JobReport& report);

/// fio's client/server protocol cuts the value of a "job option" after this many bytes (server.h, struct
/// cmd_job_option); both summaries keep within it.
inline constexpr std::size_t kJobOptionBytes = 127;

/// JSON object with a path's state, mean depth, requeues and errors, for fio's "job options".
std::string path_summary(const PathResult& path, Nanoseconds measured);

/// JSON object with count, bytes and response times (whole nanoseconds) of one operation; "null" without I/O.
std::string operation_summary(const OperationResult& operation);

} // namespace mpath::record
