// SPDX-License-Identifier: GPL-2.0-only
// Numbers as people read them: three digits that count, and the unit that fits.
#pragma once

#include <cstdint>
#include <string>

namespace mpath::record {

inline constexpr const char* kAbsent = "–"; ///< what nobody measured

/// Nanoseconds: "850ns", "12.3µs", "1.23ms", "4.56s"; at most 6 characters below 3 hours.
std::string format_time(double nanoseconds);
/// "7", "999", "1.23k", "12.3M"; at most 5 characters below 10^12.
std::string format_count(double value);
/// As format_count(), but exact below 100000: a handful of errors must not look like "0.01k".
std::string format_exact_count(std::uint64_t value);
/// Bytes per second, decimal: "0B/s", "48.2MB/s"; at most 8 characters.
std::string format_rate(double bytes_per_second);
/// "0", "3.21", "32.1", "128".
std::string format_depth(double depth);

} // namespace mpath::record
