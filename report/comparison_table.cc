// SPDX-License-Identifier: GPL-2.0-only
#include "report/comparison_table.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "record/results.h"
#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::report {
namespace {

constexpr std::size_t kLongestSetting = 24;

/// IOPS and response time of one setting and operation; bandwidth says the same as IOPS where blocks are of
/// one size, and is in the other formats.
struct ComparisonRow {
    const Comparison* iops = nullptr;
    const Comparison* time = nullptr;
};

std::vector<ComparisonRow> rows_from(std::span<const Comparison> comparisons) {
    std::vector<ComparisonRow> rows;
    for (const Comparison& one : comparisons) {
        if (one.quantity == Quantity::iops) {
            rows.push_back({&one, nullptr});
        } else if (one.quantity == Quantity::response_time && !rows.empty()) {
            rows.back().time = &one;
        }
    }
    return rows;
}

/// The largest difference that might have stayed unseen, over all comparisons that show none.
std::optional<double> unseen(std::span<const Comparison> comparisons) {
    std::optional<double> largest;
    for (const Comparison& one : comparisons) {
        if (one.estimate.detectable && !one.estimate.shown()) {
            largest = std::max(largest, one.estimate.detectable);
        }
    }
    return largest;
}

std::string plural(std::uint64_t count, const char* word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// Of all comparisons the most, as every pair leaves out units of its own.
std::string left_out_line(std::span<const Comparison> comparisons) {
    LeftOut most;
    for (const Comparison& one : comparisons) {
        most.incomplete_units = std::max(most.incomplete_units, one.left_out.incomplete_units);
        most.disturbed_units = std::max(most.disturbed_units, one.left_out.disturbed_units);
        most.units_without_io = std::max(most.units_without_io, one.left_out.units_without_io);
        most.disturbed_visits = std::max(most.disturbed_visits, one.left_out.disturbed_visits);
        most.missing_visits = std::max(most.missing_visits, one.left_out.missing_visits);
    }
    std::vector<std::string> parts;
    const auto add = [&](std::uint64_t count, const char* what) {
        if (count != 0) {
            parts.push_back(plural(count, what));
        }
    };
    add(most.incomplete_units, "incomplete unit");
    add(most.disturbed_units, "unit with a disturbed visit");
    add(most.units_without_io, "unit without I/O");
    add(most.missing_visits, "visit without a line");
    return parts.empty() ? "" : fmt::format("  left out: {}\n", fmt::join(parts, ", "));
}

std::string cell(const Comparison* comparison) {
    return comparison == nullptr ? record::kAbsent : estimate_text(comparison->estimate);
}

} // namespace

std::string change_text(double ratio) {
    if (ratio >= 10) {
        return fmt::format("x{:.1f}", ratio);
    }
    const double percent = (ratio - 1) * 100;
    return fmt::format("{:+.{}f}%", percent, percent < 100 && percent > -100 ? 1 : 0);
}

std::string estimate_text(const Estimate& estimate) {
    if (!estimate.ratio) {
        return record::kAbsent;
    }
    if (!estimate.interval) {
        return change_text(*estimate.ratio) + " (one unit: no interval)";
    }
    const std::string limits =
        fmt::format("({} to {})", change_text(estimate.interval->low), change_text(estimate.interval->high));
    return (estimate.shown() ? change_text(*estimate.ratio) : "no difference shown") + " " + limits;
}

std::string comparison_table(std::span<const Comparison> comparisons) {
    const std::vector<ComparisonRow> rows = rows_from(comparisons);
    if (rows.empty()) {
        return "";
    }
    std::vector<std::vector<std::string>> cells{{"setting", "op", "IOPS", "mean response time"}};
    std::size_t most_units = 0;
    bool drift_cancels = true;
    for (const ComparisonRow& row : rows) {
        cells.push_back({record::clip_middle(record::printable(row.iops->other), kLongestSetting),
                         std::string(record::kOperationNames[static_cast<std::size_t>(row.iops->operation)]),
                         cell(row.iops), cell(row.time)});
        most_units = std::max(most_units, row.iops->units.size());
        drift_cancels = drift_cancels && (row.iops->units.empty() || row.iops->drift_cancels);
    }
    std::vector<std::size_t> widths(cells.front().size());
    for (const auto& row : cells) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], record::text_width(row[i]));
        }
    }
    std::string text =
        fmt::format("compared with {}, paired in {}, 95 % intervals:\n",
                    record::clip_middle(record::printable(rows.front().iops->reference), kLongestSetting),
                    plural(most_units, "complete unit"));
    for (const auto& row : cells) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += i + 1 == row.size() ? row[i] : record::pad_right(row[i], widths[i]) + "  ";
        }
        text += line + "\n";
    }
    if (const auto difference = unseen(comparisons)) {
        text += fmt::format("  where no difference is shown, one of {} would have been, four times in five\n",
                            change_text(*difference));
    }
    if (!drift_cancels) {
        text += "  the visits were not on average at the same time: a drift looks like a difference\n";
    }
    return text + left_out_line(comparisons);
}

} // namespace mpath::report
