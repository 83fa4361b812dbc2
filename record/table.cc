// SPDX-License-Identifier: GPL-2.0-only
#include "record/table.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "record/failover_text.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::record {

namespace {

enum Column : std::size_t {
    kPath,
    kSetting,
    kState,
    kOperation,
    kIops,
    kBandwidth,
    kMean,
    kP50,
    kP99,
    kP999,
    kMax,
    kDepth,
    kRequeues,
    kErrors,
    kColumns
};
constexpr std::size_t kShortestName = 4; ///< what is left of a name that has to give way

using Row = std::array<std::string, kColumns>;

/// What stands in a path's first row only, because it is of the whole path.
struct PathCells {
    std::string depth;
    std::string requeues;
    std::string errors;
};

class Table {
public:
    explicit Table(Nanoseconds measured) : seconds_(static_cast<double>(measured) / 1e9) {
        rows_.push_back({"path", "setting", "state", "op", "IOPS", "BW", "mean", "p50", "p99", "p99.9", "max",
                         "depth", "requeues", "errors"});
    }

    /// A row for each operation that had I/O, or one that says there was none.
    void add(const std::string& name, const std::string& setting, const std::string& state,
             const OperationResults& results, PathCells cells) {
        bool any = false;
        for (std::size_t index = 0; index < kOperations; ++index) {
            if (results.operations[index].count() != 0) {
                add_row(any ? "" : name, setting, any ? "" : state, kOperationNames[index],
                        results.operations[index], cells);
                cells = {};
                any = true;
            }
        }
        if (!any) {
            add_row(name, setting, state, kAbsent, {}, cells);
        }
    }

    [[nodiscard]] std::string text(bool with_setting) {
        if (!with_setting) {
            for (Row& row : rows_) {
                row[kSetting].clear();
            }
        }
        std::array<std::size_t, kColumns> widths = natural_widths();
        const std::size_t gaps = kColumns - (with_setting ? 1 : 2);
        for (const Column name : {kSetting, kPath}) {
            const std::size_t width = total(widths) + gaps;
            if (width > kTableWidth) {
                const std::size_t give =
                    std::min(width - kTableWidth, widths[name] - std::min(widths[name], kShortestName));
                widths[name] -= give;
            }
        }
        // What room is left sets columns further apart.
        std::array<std::size_t, kColumns> gap_before{};
        gap_before.fill(1);
        std::size_t width = total(widths) + gaps;
        for (const Column column : {kMean, kP50, kP99, kP999, kMax, kDepth, kIops, kState, kOperation,
                                    kErrors, kRequeues, kBandwidth}) {
            if (width < kTableWidth) {
                ++gap_before[column];
                ++width;
            }
        }
        std::string text;
        for (const Row& row : rows_) {
            text += line(row, widths, gap_before);
        }
        return text;
    }

private:
    void add_row(const std::string& name, const std::string& setting, const std::string& state,
                 std::string_view operation, const OperationResult& result, const PathCells& cells) {
        const Moments& moments = result.moments;
        const auto time = [](Maybe value) {
            return value ? format_time(static_cast<double>(*value)) : kAbsent;
        };
        const bool any = moments.count != 0;
        rows_.push_back({printable(name), printable(setting), state, std::string(operation),
                         per_second(moments.count, format_count),
                         any && moments.bytes == 0 ? kAbsent : per_second(moments.bytes, format_rate),
                         any ? format_time(moments.mean()) : kAbsent, time(result.percentile(50)),
                         time(result.percentile(99)), time(result.percentile(99.9)),
                         any ? format_time(static_cast<double>(moments.max)) : kAbsent, cells.depth,
                         cells.requeues, cells.errors});
    }

    template <typename Format>
    [[nodiscard]] std::string per_second(std::uint64_t amount, Format format) const {
        return seconds_ > 0 ? format(static_cast<double>(amount) / seconds_) : kAbsent;
    }

    [[nodiscard]] std::array<std::size_t, kColumns> natural_widths() const {
        std::array<std::size_t, kColumns> widths{};
        for (const Row& row : rows_) {
            for (std::size_t column = 0; column < kColumns; ++column) {
                widths[column] = std::max(widths[column], text_width(row[column]));
            }
        }
        return widths;
    }

    static std::size_t total(const std::array<std::size_t, kColumns>& widths) {
        return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    }

    static std::string line(const Row& row, const std::array<std::size_t, kColumns>& widths,
                            const std::array<std::size_t, kColumns>& gap_before) {
        std::string text;
        for (std::size_t column = 0; column < kColumns; ++column) {
            if (widths[column] == 0) {
                continue;
            }
            const std::string cell = clip_end(row[column], widths[column]);
            text += text.empty() ? "" : std::string(gap_before[column], ' ');
            text += column < kIops ? pad_right(cell, widths[column]) : pad_left(cell, widths[column]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text + "\n";
    }

    double seconds_;
    std::vector<Row> rows_;
};

std::string state_text(std::optional<PathState> state) {
    return std::string(state ? to_string(*state) : kAbsent);
}

std::string or_absent(const std::optional<std::string>& text) {
    return text && !text->empty() ? printable(*text) : kAbsent;
}

std::string title(const JobResult& job) {
    const auto plural = [](std::size_t count) { return count == 1 ? "" : "s"; };
    std::string rest =
        fmt::format(": {} path{}, {}", job.paths.size(), plural(job.paths.size()), job.iopolicy);
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
    Table table(job.measured());
    OperationResults all;
    PathCells sums;
    std::uint64_t area = 0;
    std::uint64_t requeues = 0;
    std::uint64_t errors = 0;
    bool with_setting = false;
    for (const PathResult& path : job.paths) {
        PathCells cells{mean_depth(path.depth.area, job), format_exact_count(path.requeues),
                        format_exact_count(path.error_count())};
        for (const SettingResult& setting : path.settings) {
            table.add(path.name, setting.name, state_text(path.state), setting.operations, cells);
            cells = {};
            all.merge(setting.operations);
        }
        with_setting = with_setting || path.settings.size() > 1;
        area += path.depth.area;
        requeues += path.requeues;
        errors += path.error_count();
    }
    if (job.paths.size() > 1) {
        table.add("all", "", "", all,
                  {mean_depth(area, job), format_exact_count(requeues), format_exact_count(errors)});
    }
    return table.text(with_setting);
}

} // namespace

std::string render_table(const JobReport& report) {
    return title(report.result) + legend(report) + numbers(report.result) + event_lines(report.result) +
           failover_lines(report.result);
}

} // namespace mpath::record
