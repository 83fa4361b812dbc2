// SPDX-License-Identifier: GPL-2.0-only
// What each setting of a job came to, for a job that was in several.
#pragma once

#include <string>

#include "record/results.h"

namespace mpath::record {

/// For each setting a line that says how long the job was in it, a row for each path and operation with rates
/// over its steady time and the path's share, and their sum; in the end what was submitted around switches,
/// which has no rates. Not wider than kTableWidth.
std::string settings_table(const JobResult& job);

/// How many switches there were and how long they took; nothing without any.
std::string switch_line(const JobResult& job);

} // namespace mpath::record
