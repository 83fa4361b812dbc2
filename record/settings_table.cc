// SPDX-License-Identifier: GPL-2.0-only
#include "record/settings_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "record/table.h"
#include "record/table_grid.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::record {

namespace {

constexpr std::array<GridColumn, 11> kSettingColumns{{{"path", false, 0},
                                                      {"share", true, 9},
                                                      {"op", false, 10},
                                                      {"IOPS", true, 7},
                                                      {"BW", true, 8},
                                                      {"mean", true, 1},
                                                      {"p50", true, 2},
                                                      {"p99", true, 3},
                                                      {"p99.9", true, 4},
                                                      {"max", true, 5},
                                                      {"depth", true, 6}}};

const OperationResults* find_setting(const PathResult& path, std::string_view name) {
    for (const SettingResult& setting : path.settings) {
        if (setting.name == name) {
            return &setting.operations;
        }
    }
    return nullptr;
}

const OperationResults& in_setting(const PathResult& path, std::string_view name) {
    static const OperationResults none;
    const OperationResults* found = find_setting(path, name);
    return found != nullptr ? *found : none;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return whole == 0
               ? kAbsent
               : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Little's law: I/Os outstanding = rate * response time.
std::string depth_text(const OperationResults& results, double seconds) {
    double sum = 0;
    for (const OperationResult& result : results.operations) {
        sum += static_cast<double>(result.moments.sum);
    }
    return seconds > 0 ? format_depth(sum / static_cast<double>(kSecond) / seconds) : kAbsent;
}

/// A row for each operation with I/O anywhere in the setting, so that a path without any shows its 0 %.
void add_path(Grid& grid, const std::string& name, const OperationResults& results,
              const OperationResults& all, bool with_share, double seconds) {
    std::string depth = depth_text(results, seconds);
    bool first = true;
    for (std::size_t index = 0; index < kOperations; ++index) {
        const std::uint64_t whole = all.operations[index].count();
        if (whole == 0) {
            continue;
        }
        const OperationResult& result = results.operations[index];
        std::vector<std::string> row{first ? printable(name) : "",
                                     with_share ? share_text(result.count(), whole) : "",
                                     std::string(kOperationNames[index])};
        std::vector<std::string> numbers = number_cells(result, seconds);
        row.insert(row.end(), numbers.begin(), numbers.end());
        row.push_back(first ? depth : "");
        grid.add_row(std::move(row));
        first = false;
    }
}

void add_setting(Grid& grid, const JobResult& job, std::string_view name, double seconds) {
    OperationResults all;
    for (const PathResult& path : job.paths) {
        all.merge(in_setting(path, name));
    }
    for (const PathResult& path : job.paths) {
        add_path(grid, path.name, in_setting(path, name), all, true, seconds);
    }
    if (job.paths.size() > 1) {
        add_path(grid, "all", all, all, false, seconds);
    }
}

std::string head_of(const SettingTime& setting) {
    std::string rest = fmt::format(": {} visit{}", setting.visits, setting.visits == 1 ? "" : "s");
    if (setting.disturbed_visits != 0) {
        rest += fmt::format(", {} of them disturbed", setting.disturbed_visits);
    }
    if (setting.steady_time == 0) {
        rest += ", never steady";
    } else {
        rest += ", " + format_time(setting.seconds() * 1e9) + " steady";
    }
    if (setting.jobs > 1) {
        rest += fmt::format(" in each of {} jobs", setting.jobs);
    }
    const std::string start = "setting ";
    return start + clip_end(printable(setting.name), kTableWidth - start.size() - text_width(rest)) + rest;
}

} // namespace

std::string settings_table(const JobResult& job) {
    Grid grid(kSettingColumns);
    for (const SettingTime& setting : job.setting_times()) {
        if (setting.visits != 0) {
            grid.add_line(head_of(setting));
            add_setting(grid, job, setting.name, setting.seconds());
        }
    }
    const bool has_transition = std::any_of(job.paths.begin(), job.paths.end(), [](const PathResult& path) {
        const OperationResults& results = in_setting(path, kTransition);
        return std::any_of(results.operations.begin(), results.operations.end(),
                           [](const OperationResult& one) { return one.count() != 0; });
    });
    if (has_transition) {
        grid.add_line("transition: what was submitted around a switch, kept apart");
        add_setting(grid, job, kTransition, 0);
    }
    return grid.text();
}

std::string switch_line(const JobResult& job) {
    if (!job.switch_delay || job.switch_delay->count() == 0) {
        return "";
    }
    const DelayResult& delay = *job.switch_delay;
    return fmt::format("{} switch{}: asked for to first I/O p50 {}, max {}\n",
                       format_exact_count(delay.count()), delay.count() == 1 ? "" : "es",
                       format_time(static_cast<double>(delay.percentile(50).value_or(0))),
                       format_time(static_cast<double>(delay.moments.max)));
}

} // namespace mpath::record
