// SPDX-License-Identifier: GPL-2.0-only
// A report for scripts.
#pragma once

#include <cstdint>
#include <string>

#include "report/report.h"

namespace mpath::report {

inline constexpr std::string_view kReportFormat = "fio-mpath report";
inline constexpr std::uint32_t kReportVersion = 1;

/// One JSON object; docs/report.md names its members. Times are nanoseconds, bandwidth is bytes per second,
/// shares and parts are 0 to 1; `null` is what nobody measured.
[[nodiscard]] std::string to_json(const Report& report);

} // namespace mpath::report
