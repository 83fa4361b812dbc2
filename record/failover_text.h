// SPDX-License-Identifier: GPL-2.0-only
// What happened to a job's paths, and what its I/O noticed of it, as lines below a table.
#pragma once

#include <string>

#include "record/results.h"

namespace mpath::record {

/// Of more events than this, the first ones and those with the longest gaps are told, and how many are not.
inline constexpr std::size_t kMostEventsTold = 20;

/// A line for each event, with its cause and the failover gap it led to; two where one is too narrow. No line
/// is wider than kTableWidth.
std::string event_lines(const JobResult& job);

/// The longest gaps, the longest response time, requeue delays, holds, retries and exposed writes; nothing at
/// all when none of it happened.
std::string failover_lines(const JobResult& job);

} // namespace mpath::record
