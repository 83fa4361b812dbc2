// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <limits>
#include <vector>

#include "base/clock.h"
#include "job/life_options.h"
#include "job/protocol.h"

namespace mpath::cli {

/// How often a lost path is tried again, for want of --reconnect-delay: who watches wants to see it return.
inline constexpr Nanoseconds kWatchReconnectDelay = kSecond;

inline constexpr Nanoseconds kWatchForever = std::numeric_limits<Nanoseconds>::max();

/// Stays connected to the paths, without I/O queues, and prints a line on stdout for each change, with its
/// time (UTC) and path, until SIGINT, SIGTERM or SIGHUP, or for `duration`. A path that is lost is connected
/// again by the rules of `life`, as in a job. The exit status: 0 when every path is connected at the end,
/// otherwise 1.
int watch_paths(const std::vector<job::PathUri>& uris, const job::ConnectOptions& options,
                const job::LifeOptions& life, Nanoseconds duration);

} // namespace mpath::cli
