// SPDX-License-Identifier: GPL-2.0-only
// Under which conditions jobs measured, in the lines that stand before their numbers. What nobody knows is a
// dash.
#pragma once

#include <string>
#include <vector>

#include "record/conditions.h"

namespace mpath::report {

/// Host, kernel, versions.
[[nodiscard]] std::string host_line(const record::Conditions& conditions);

/// What I/O was done, and which policy spread it.
[[nodiscard]] std::string workload_line(const record::Conditions& conditions);

/// The schedule; nothing without one.
[[nodiscard]] std::string steering_line(const record::Conditions& conditions);

/// Queues and digests; one line if they are the same on all paths.
[[nodiscard]] std::string queue_lines(const std::vector<record::PathConditions>& paths);

/// What makes jobs of several runs comparable as repeats: host, workload, schedule without its seed, and
/// where the paths lead.
[[nodiscard]] std::string conditions_text(const record::Conditions& conditions);

} // namespace mpath::report
