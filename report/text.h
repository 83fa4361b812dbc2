// SPDX-License-Identifier: GPL-2.0-only
// A report for a terminal.
#pragma once

#include <string>

#include "report/report.h"

namespace mpath::report {

/// Of each block: conditions, the table of its paths, what the client did, comparisons, events, and what a
/// reader should know to doubt it. Ends with a newline.
[[nodiscard]] std::string to_text(const Report& report);

} // namespace mpath::report
