// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_view.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "record/text.h"
#include "record/units.h"

namespace mpath::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTimeLength = 13; ///< of "23:59:58.123Z", the end of a time in UTC

std::string time_of_day(Nanoseconds utc) {
    const std::string text = record::utc_text(utc);
    return text.substr(text.size() - kTimeLength);
}

std::string_view standing_word(live::JobStanding standing) {
    switch (standing) {
    case live::JobStanding::prepared:
        return "prepared";
    case live::JobStanding::running:
        return "running";
    case live::JobStanding::ended:
        return "ended";
    case live::JobStanding::killed:
        return "killed";
    }
    return "?";
}

std::string state_text(const std::optional<PathState>& state) {
    return state ? std::string(to_string(*state)) : record::kAbsent;
}

std::string path_name(const TopJob& job, const record::Event& event) {
    return event.path < job.paths.size() ? record::printable(job.paths[event.path].name) : "job";
}

/// The cells from "op" on.
TopRow operation_cells(std::string_view operation, const record::IntervalOperation& result, double seconds) {
    const record::Moments& moments = result.moments;
    const auto count = static_cast<double>(moments.count);
    return {std::string(operation), record::format_count(count / seconds),
            moments.bytes == 0 ? record::kAbsent
                               : record::format_rate(static_cast<double>(moments.bytes) / seconds),
            record::format_time(moments.mean()),
            result.p99 ? record::format_time(static_cast<double>(*result.p99)) : record::kAbsent};
}

std::vector<TopRow> path_rows(const TopPath& path, const record::IntervalPath* numbers, double seconds) {
    const std::string absent = record::kAbsent;
    TopRow head{record::printable(path.name), path.enabled ? "yes" : "no", state_text(path.state)};
    TopRow tail{absent, absent, absent};
    std::vector<TopRow> operations;
    if (numbers != nullptr) {
        tail = {record::format_depth(numbers->mean_depth), record::format_exact_count(numbers->requeues),
                record::format_exact_count(numbers->errors)};
        for (std::size_t index = 0; index < kOperations; ++index) {
            if (numbers->operations[index].moments.count > 0) {
                operations.push_back(
                    operation_cells(record::kOperationNames[index], numbers->operations[index], seconds));
            }
        }
    }
    if (operations.empty()) {
        operations.push_back({absent, numbers != nullptr ? "0" : absent, absent, absent, absent});
    }
    std::vector<TopRow> rows;
    for (const TopRow& operation : operations) {
        TopRow row = rows.empty() ? head : TopRow(head.size());
        row.insert(row.end(), operation.begin(), operation.end());
        if (rows.empty()) {
            row.insert(row.end(), tail.begin(), tail.end());
        }
        row.resize(top_columns().size());
        rows.push_back(std::move(row));
    }
    return rows;
}

Json json_of(const record::Maybe& value) {
    return value ? Json(*value) : Json();
}

Json operations_json(const record::IntervalPath& path) {
    Json operations = Json::object();
    for (std::size_t index = 0; index < kOperations; ++index) {
        const record::IntervalOperation& operation = path.operations[index];
        const record::Moments& moments = operation.moments;
        operations[std::string(record::kOperationNames[index])] =
            moments.count == 0 ? Json()
                               : Json{{"ios", moments.count},
                                      {"bytes", moments.bytes},
                                      {"mean_ns", moments.mean()},
                                      {"p99_ns", json_of(operation.p99)},
                                      {"max_ns", moments.max}};
    }
    return operations;
}

Json paths_json(const TopJob& job) {
    Json paths = Json::array();
    for (std::size_t i = 0; i < job.paths.size(); ++i) {
        const TopPath& path = job.paths[i];
        Json json{{"name", path.name},       {"state", path.state ? Json(to_string(*path.state)) : Json()},
                  {"enabled", path.enabled}, {"operations", nullptr},
                  {"mean_depth", nullptr},   {"requeues", nullptr},
                  {"errors", nullptr}};
        if (job.interval) {
            const record::IntervalPath& numbers = job.interval->paths[i];
            json["operations"] = operations_json(numbers);
            json["mean_depth"] = numbers.mean_depth;
            json["requeues"] = numbers.requeues;
            json["errors"] = numbers.errors;
        }
        paths.push_back(std::move(json));
    }
    return paths;
}

Json events_json(const TopJob& job) {
    Json events = Json::array();
    for (const record::Event& event : job.events) {
        events.push_back({{"utc", record::utc_text(event.utc)},
                          {"path", event.path < job.paths.size() ? Json(job.paths[event.path].name) : Json()},
                          {"kind", to_string(event.kind)},
                          {"text", event.text}});
    }
    return events;
}

Json job_json(const TopView& view, const TopJob& job) {
    return {{"utc", record::utc_text(view.utc)},
            {"run", job.run},
            {"job", job.name},
            {"number", job.number},
            {"standing", standing_word(job.standing)},
            {"setting", job.setting},
            {"policy", job.policy},
            {"has_schedule", job.has_schedule},
            {"visit", json_of(job.visit)},
            {"cause", job.cause ? Json(to_string(*job.cause)) : Json()},
            {"asked", job.asked},
            {"interval_ns", job.interval ? Json(job.interval->length) : Json()},
            {"paths", paths_json(job)},
            {"events", events_json(job)}};
}

constexpr std::array<std::size_t, 11> kWidths{12, 3, 13, 5, 5, 8, 6, 6, 5, 8, 6};

std::string plain_line(const std::string& time, const std::string& run, const std::string& job,
                       const std::string& setting, const TopRow& row) {
    std::string line = record::pad_right(time, kTimeLength) + ' ' + record::pad_left(run, 7) + ' ' +
                       record::pad_right(job, 12) + ' ' + record::pad_right(setting, 20) + ' ' +
                       row_text(row, kWidths);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

} // namespace

std::string row_text(const TopRow& row, std::span<const std::size_t> widths) {
    constexpr std::size_t kFirstNumber = 4;
    std::string text;
    for (std::size_t column = 0; column < row.size(); ++column) {
        text += column == 0 ? "" : " ";
        text += column < kFirstNumber ? record::pad_right(row[column], widths[column])
                                      : record::pad_left(row[column], widths[column]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

const TopRow& top_columns() {
    static const TopRow columns{"path", "use", "state", "op",       "IOPS",  "BW",
                                "mean", "p99", "depth", "requeues", "errors"};
    return columns;
}

std::vector<TopRow> top_rows(const TopJob& job) {
    std::vector<TopRow> rows;
    const double seconds = job.interval ? static_cast<double>(job.interval->length) / kSecond : 1;
    for (std::size_t i = 0; i < job.paths.size(); ++i) {
        const record::IntervalPath* numbers = job.interval ? &job.interval->paths[i] : nullptr;
        for (TopRow& row : path_rows(job.paths[i], numbers, seconds)) {
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::string setting_text(const TopJob& job) {
    const std::string setting = record::printable(job.setting);
    switch (job.standing) {
    case live::JobStanding::prepared:
        return "has not started";
    case live::JobStanding::ended:
        return "has ended";
    case live::JobStanding::killed:
        return "was killed";
    case live::JobStanding::running:
        break;
    }
    std::string text = setting;
    if (job.cause == record::VisitCause::command) {
        text += job.has_schedule ? ", by command instead of its schedule" : ", by command";
    } else if (job.has_schedule) {
        text += ", by its schedule";
    }
    if (job.visit) {
        text += fmt::format(", visit {}", *job.visit);
    }
    return job.asked ? text + ", has not followed yet" : text;
}

std::string event_line(const TopJob& job, const record::Event& event) {
    return fmt::format("{}  {}  {}  {}: {}", time_of_day(event.utc), record::printable(job.label),
                       path_name(job, event), to_string(event.kind), record::printable(event.text));
}

std::string plain_text(const TopView& view, bool with_head) {
    const std::string time = time_of_day(view.utc);
    std::string text = with_head ? plain_line("time", "run", "job", "setting", top_columns()) : "";
    for (const TopJob& job : view.jobs) {
        if (job.told) {
            continue;
        }
        const std::string run = std::to_string(job.run);
        const std::string label = record::printable(job.label);
        if (job.interval) {
            for (const TopRow& row : top_rows(job)) {
                text += plain_line(time, run, label, record::printable(job.setting), row);
            }
        }
        if (!job.interval || job.standing != live::JobStanding::running) {
            text += plain_line(time, run, label, setting_text(job), {});
        }
        for (const record::Event& event : job.events) {
            text += event_line(job, event) + '\n';
        }
    }
    return text;
}

std::string json_lines(const TopView& view) {
    std::string text;
    for (const TopJob& job : view.jobs) {
        if (!job.told) {
            text += job_json(view, job).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
        }
    }
    return text;
}

} // namespace mpath::cli
