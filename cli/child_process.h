// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mpath::cli {

/// Runs a program (found in PATH) in the foreground, with our standard streams, and waits for its end. Ctrl-C
/// reaches it from the terminal; SIGINT, SIGTERM, SIGHUP and SIGQUIT that are sent to us are passed on, and
/// we go on waiting.
/// @return its exit status; 128 + N when signal N ended it; an error if it can't be started
[[nodiscard]] Result<int> run_in_foreground(const std::vector<std::string>& words);

} // namespace mpath::cli
