// SPDX-License-Identifier: GPL-2.0-only
// A job's results as people see them after fio's statistics, and as scripts find them in fio's JSON.
#pragma once

#include <cstddef>
#include <string>

#include "record/merge.h"

namespace mpath::record {

inline constexpr std::size_t kTableWidth = 100; ///< characters

/// Legend of the paths, a row for each path, setting and operation that had I/O, and their sum. No line is
/// wider than kTableWidth; names are clipped, numbers never. Ends with a newline.
std::string render_numbers(const JobReport& report);

/// How long switches took, a line for each event, and what they cost; nothing where nothing happened.
std::string render_events(const JobReport& report);

/// Both.
std::string render_table(const JobReport& report);

/// fio's client/server protocol cuts the value of a "job option" after this many bytes (server.h, struct
/// cmd_job_option); the summaries keep within it by leaving out what is least needed.
inline constexpr std::size_t kJobOptionBytes = 127;

/// JSON objects for fio's "job options"; times are whole nanoseconds.

/// What the job's I/O noticed of its paths' trouble: longest gap, requeues, exposed writes, I/Os held and
/// failed without a path, the longest hold, number of events.
std::string job_summary(const JobResult& job);

/// A path's state, mean depth, requeues, retries, exposed writes and errors.
std::string path_summary(const PathResult& path, Nanoseconds measured);

/// Requeue delays of a path: count and times; "null" without a requeue.
std::string requeue_summary(const PathResult& path);

/// Count, bytes and response times of one operation; "null" without I/O.
std::string operation_summary(const OperationResult& operation);

} // namespace mpath::record
