// SPDX-License-Identifier: GPL-2.0-only
#include "record/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "record/failover_text.h"
#include "record/settings_table.h"
#include "record/table_grid.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::record {

namespace {

/// What room is left goes to the times first.
constexpr std::array<GridColumn, 13> kColumns{{{"path", false, 0},
                                               {"state", false, 8},
                                               {"op", false, 9},
                                               {"IOPS", true, 7},
                                               {"BW", true, 12},
                                               {"mean", true, 1},
                                               {"p50", true, 2},
                                               {"p99", true, 3},
                                               {"p99.9", true, 4},
                                               {"max", true, 5},
                                               {"depth", true, 6},
                                               {"requeues", true, 11},
                                               {"errors", true, 10}}};

/// What stands in a path's first row only, because it is of the whole path.
struct PathCells {
    std::string depth;
    std::string requeues;
    std::string errors;
};

void add_row(Grid& grid, const std::string& name, const std::string& state, std::string_view operation,
             const OperationResult& result, double seconds, const PathCells& cells) {
    std::vector<std::string> row{printable(name), state, std::string(operation)};
    std::vector<std::string> numbers = number_cells(result, seconds);
    row.insert(row.end(), numbers.begin(), numbers.end());
    row.insert(row.end(), {cells.depth, cells.requeues, cells.errors});
    grid.add_row(std::move(row));
}

/// A row for each operation that had I/O, or one that says there was none.
void add_rows(Grid& grid, const std::string& name, const std::string& state, const OperationResults& results,
              double seconds, PathCells cells) {
    bool any = false;
    for (std::size_t index = 0; index < kOperations; ++index) {
        if (results.operations[index].count() != 0) {
            add_row(grid, any ? "" : name, any ? "" : state, kOperationNames[index],
                    results.operations[index], seconds, cells);
            cells = {};
            any = true;
        }
    }
    if (!any) {
        add_row(grid, name, state, kAbsent, {}, seconds, cells);
    }
}

std::string state_text(std::optional<PathState> state) {
    return std::string(state ? to_string(*state) : kAbsent);
}

std::string or_absent(const std::optional<std::string>& text) {
    return text && !text->empty() ? printable(*text) : kAbsent;
}

std::string title(const JobResult& job) {
    const auto plural = [](std::size_t count) { return count == 1 ? "" : "s"; };
    std::string rest = fmt::format(": {} path{}, ", job.paths.size(), plural(job.paths.size()));
    if (job.settings.size() > 1) {
        rest += fmt::format("{} settings", job.settings.size());
    } else {
        rest += job.iopolicy;
    }
    if (job.jobs > 1) {
        rest += fmt::format(", {} jobs", job.jobs);
    }
    rest += job.measured_from == 0
                ? ", nothing measured"
                : fmt::format(", {} measured", format_time(static_cast<double>(job.measured())));
    if (!job.ended) {
        rest += ", did not end by itself";
    }
    const std::string start = "mpath: ";
    return start + clip_end(printable(job.name), kTableWidth - start.size() - text_width(rest)) + rest + "\n";
}

/// One line if it fits, otherwise the identity apart from what the maker says.
std::string device_lines(const PathConditions& path, std::size_t indent) {
    const std::string identity = "device " + or_absent(path.device);
    const std::string maker = fmt::format("{}, serial {}, firmware {}", or_absent(path.model),
                                          or_absent(path.serial), or_absent(path.firmware));
    const std::string margin(indent, ' ');
    const std::string both = identity + ", " + maker;
    if (indent + text_width(both) <= kTableWidth) {
        return margin + both + "\n";
    }
    return margin + clip_middle(identity, kTableWidth - indent) + "\n" + margin +
           clip_end(maker, kTableWidth - indent) + "\n";
}

/// Which path is which, and the device once if all paths tell the same about it.
std::string legend(const JobReport& report) {
    std::size_t name_width = 0;
    bool one_device = true;
    for (const PathConditions& path : report.conditions) {
        name_width = std::max(name_width, std::min<std::size_t>(text_width(printable(path.name)), 20));
        one_device = one_device && device_lines(path, 2) == device_lines(report.conditions.front(), 2);
    }
    std::string text =
        one_device && !report.conditions.empty() ? device_lines(report.conditions.front(), 2) : "";
    for (std::size_t index = 0; index < report.conditions.size(); ++index) {
        const PathConditions& path = report.conditions[index];
        std::string state = state_text(report.result.paths[index].state);
        if (path.group) {
            state += fmt::format(" (group {})", *path.group);
        }
        const std::size_t room = kTableWidth - 2 - name_width - 2 - 2 - text_width(state);
        text +=
            fmt::format("  {}  {}  {}\n", pad_right(clip_end(printable(path.name), name_width), name_width),
                        clip_middle(printable(path.address), room), state);
        if (!one_device) {
            text += device_lines(path, 2 + name_width + 2);
        }
    }
    return text;
}

std::string mean_depth(std::uint64_t area, const JobResult& job) {
    return job.measured() == 0
               ? kAbsent
               : format_depth(static_cast<double>(area) / static_cast<double>(job.measured()));
}

std::string numbers(const JobResult& job) {
    Grid grid(kColumns);
    const double seconds = static_cast<double>(job.measured()) / static_cast<double>(kSecond);
    OperationResults all;
    std::uint64_t area = 0;
    std::uint64_t requeues = 0;
    std::uint64_t errors = 0;
    for (const PathResult& path : job.paths) {
        const OperationResults operations = path.operations();
        add_rows(grid, path.name, state_text(path.state), operations, seconds,
                 {mean_depth(path.depth.area, job), format_exact_count(path.requeues),
                  format_exact_count(path.error_count())});
        all.merge(operations);
        area += path.depth.area;
        requeues += path.requeues;
        errors += path.error_count();
    }
    if (job.paths.size() > 1) {
        add_rows(grid, "all", "", all, seconds,
                 {mean_depth(area, job), format_exact_count(requeues), format_exact_count(errors)});
    }
    return grid.text();
}

} // namespace

std::string render_numbers(const JobReport& report) {
    const JobResult& job = report.result;
    std::string text = title(job) + legend(report);
    if (job.has_several_settings()) {
        text += settings_table(job) + "all settings and transitions together:\n";
    }
    return text + numbers(job);
}

std::string render_events(const JobReport& report) {
    const JobResult& job = report.result;
    return switch_line(job) + event_lines(job) + failover_lines(job);
}

std::string render_table(const JobReport& report) {
    return render_numbers(report) + render_events(report);
}

} // namespace mpath::record
