// SPDX-License-Identifier: GPL-2.0-only
#include "record/path_log.h"

#include <algorithm>

#include <fmt/format.h>

namespace mpath::record {

namespace {

enum LogColumn : std::size_t {
    kMilliseconds,
    kUtc,
    kWhat,
    kLogPath,
    kLogSetting,
    kLogState,
    kOperationColumns, ///< count, bytes, mean, min and max of each operation
    kLogDepth = kOperationColumns + 5 * kOperations,
    kLogRequeues,
    kLogErrors,
    kFrom,
    kCause,
    kDelay,
    kText,
    kLogColumns
};

/// What is left empty was not measured, or is of no meaning in this kind of row.
using LogRow = std::array<std::string, kLogColumns>;

/// Before quoting.
std::string line_of(const LogRow& row) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
        line += (column == 0 ? "" : ",") + csv_field(row[column]);
    }
    return line;
}

LogRow head() {
    LogRow row;
    row[kMilliseconds] = "time_ms";
    row[kUtc] = "utc_ns";
    row[kWhat] = "what";
    row[kLogPath] = "path";
    row[kLogSetting] = "setting";
    row[kLogState] = "state";
    std::size_t column = kOperationColumns;
    for (const std::string_view operation : kOperationNames) {
        for (const char* quantity : {"count", "bytes", "mean_ns", "min_ns", "max_ns"}) {
            row[column++] = fmt::format("{}_{}", operation, quantity);
        }
    }
    row[kLogDepth] = "depth";
    row[kLogRequeues] = "requeues";
    row[kLogErrors] = "errors";
    row[kFrom] = "from";
    row[kCause] = "cause";
    row[kDelay] = "delay_ns";
    row[kText] = "text";
    return row;
}

std::string milliseconds(Nanoseconds at, Nanoseconds since) {
    return fmt::format("{:.3f}", static_cast<double>(static_cast<std::int64_t>(at - since)) /
                                     static_cast<double>(kMillisecond));
}

LogRow row_of(const IntervalPath& path) {
    LogRow row;
    row[kWhat] = "interval";
    row[kLogPath] = path.name;
    row[kLogState] = path.state ? to_string(*path.state) : "";
    std::size_t column = kOperationColumns;
    for (const IntervalOperation& operation : path.operations) {
        const Moments& moments = operation.moments;
        row[column++] = std::to_string(moments.count);
        row[column++] = std::to_string(moments.bytes);
        if (moments.count != 0) {
            row[column] = fmt::format("{:.0f}", moments.mean());
            row[column + 1] = std::to_string(moments.min);
            row[column + 2] = std::to_string(moments.max);
        }
        column += 3;
    }
    row[kLogDepth] = fmt::format("{:.3f}", path.mean_depth);
    row[kLogRequeues] = std::to_string(path.requeues);
    row[kLogErrors] = std::to_string(path.errors);
    return row;
}

LogRow row_of(const Switch& change) {
    LogRow row;
    row[kWhat] = "switch";
    row[kLogSetting] = change.to;
    row[kFrom] = change.from.value_or("");
    row[kCause] = to_string(change.cause);
    row[kDelay] = change.delay ? std::to_string(*change.delay) : "";
    return row;
}

LogRow row_of(const Event& event, const std::vector<std::string>& path_names) {
    LogRow row;
    row[kWhat] = "event";
    row[kLogPath] = event.path < path_names.size() ? path_names[event.path] : "";
    row[kCause] = to_string(event.kind);
    row[kText] = event.text;
    return row;
}

} // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char letter : text) {
        quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    }
    return quoted + "\"";
}

Result<PathLogWriter> PathLogWriter::create(const std::string& file, std::vector<std::string> path_names) {
    auto lines = LinesFile::create(file, "the path log", line_of(head()));
    if (!lines) {
        return tl::unexpected(lines.error());
    }
    return PathLogWriter(std::move(*lines), std::move(path_names));
}

Result<void> PathLogWriter::append(const PathLogPart& part, Nanoseconds measured_from) {
    struct Entry {
        Nanoseconds at;
        LogRow row;
    };
    const Interval& interval = part.interval;
    std::vector<Entry> entries;
    for (const Switch& change : part.switches) {
        entries.push_back({change.at, row_of(change)});
    }
    for (const Event& event : part.events) {
        entries.push_back({event.monotonic, row_of(event, path_names_)});
    }
    for (const IntervalPath& path : interval.paths) {
        entries.push_back({interval.monotonic, row_of(path)});
        entries.back().row[kLogSetting] = interval.setting.value_or("");
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.at < b.at; });
    std::string text;
    for (Entry& entry : entries) {
        entry.row[kMilliseconds] = milliseconds(entry.at, measured_from);
        entry.row[kUtc] = std::to_string(interval.utc - (interval.monotonic - entry.at)); // modulo 2^64
        text += line_of(entry.row) + "\n";
    }
    return lines_.append(text);
}

} // namespace mpath::record
