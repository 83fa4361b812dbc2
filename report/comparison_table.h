// SPDX-License-Identifier: GPL-2.0-only
// Comparisons for a terminal.
#pragma once

#include <span>
#include <string>

#include "report/comparison.h"

namespace mpath::report {

/// "-3.1%", "+250%", "x12.3" of a ratio: how much more or less than the reference.
[[nodiscard]] std::string change_text(double ratio);

/// "+5.2% (+4.1% to +6.3%)"; "no difference shown (-1.0% to +0.8%)" when the interval contains none; a dash
/// without units.
[[nodiscard]] std::string estimate_text(const Estimate& estimate);

/// Against which setting and from how many units, a row for each other setting and operation with IOPS and
/// response time, what could have been shown where no difference was, and what was left out. Lines are no
/// wider than record::kTableWidth. Nothing without comparisons.
[[nodiscard]] std::string comparison_table(std::span<const Comparison> comparisons);

} // namespace mpath::report
