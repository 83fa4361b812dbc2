// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "target/server.h"

namespace mpath::target {

/// A line for each listener, `served NAME counter=N ...`: what it has served until now.
std::string served_text(const Server& server);

/// The same, then a line `state NAME key=value ...` for each, and one for the scripts. The last value of a
/// listener's line, faults=, goes to its end.
std::string status_text(const Server& server);

} // namespace mpath::target
