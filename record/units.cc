// SPDX-License-Identifier: GPL-2.0-only
#include "record/units.h"

#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace mpath::record {

namespace {

/// Three digits of a value below 1000; what rounds up to 1000 is left to the next unit.
std::string three_digits(double value) {
    if (value < 9.995) {
        return fmt::format("{:.2f}", value);
    }
    return fmt::format("{:.{}f}", value, value < 99.95 ? 1 : 0);
}

/// `value` in the first of `units` (each a thousand of the one before) that leaves less than 1000 of it. The
/// first unit is whole: nothing is split finer.
std::string scaled(double value, std::span<const std::string_view> units) {
    if (value < 999.5) {
        return fmt::format("{:.0f}{}", value, units.front());
    }
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return three_digits(value) + std::string(units[unit]);
}

} // namespace

std::string format_time(double nanoseconds) {
    static constexpr std::array<std::string_view, 4> kUnits{"ns", "µs", "ms", "s"};
    return scaled(nanoseconds, kUnits);
}

std::string format_count(double value) {
    static constexpr std::array<std::string_view, 5> kUnits{"", "k", "M", "G", "T"};
    return scaled(value, kUnits);
}

std::string format_exact_count(std::uint64_t value) {
    return value < 100'000 ? fmt::format("{}", value) : format_count(static_cast<double>(value));
}

std::string format_rate(double bytes_per_second) {
    static constexpr std::array<std::string_view, 5> kUnits{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    return scaled(bytes_per_second, kUnits);
}

std::string format_depth(double depth) {
    return depth == 0 ? "0" : three_digits(depth);
}

} // namespace mpath::record
