// SPDX-License-Identifier: GPL-2.0-only
// A report's numbers for a spreadsheet.
#pragma once

#include <string>

#include "report/report.h"

namespace mpath::report {

/// The names of the columns, then a line for each operation of each path in each setting of each block
/// (report/rows.h), and the sums over paths and settings. Response times are nanoseconds, bandwidth is bytes
/// per second. What was not measured is an empty field, never 0.
[[nodiscard]] std::string to_csv(const Report& report);

} // namespace mpath::report
