// SPDX-License-Identifier: GPL-2.0-only
#include "record/file.h"
#include "record/json_in.h"
#include "record/record.h"

namespace mpath::record {

namespace {

/// What every file of ours says first.
Result<void> check_format(const Json& json, std::string_view format, const std::string& place) {
    const auto named = json.is_object() ? json.find("format") : json.end();
    if (!json.is_object() || named == json.end() || !named->is_string() ||
        named->get<std::string>() != format) {
        return failure(EINVAL, "{} is JSON, but no {}", place, format);
    }
    const auto version = json.find("version");
    if (version == json.end() || !version->is_number_unsigned()) {
        return failure(EINVAL, "{} is a {} without a version number: it was changed by something else", place,
                       format);
    }
    if (version->get<std::uint64_t>() > kRecordVersion) {
        return failure(EINVAL, "{} has version {} of the format and this fio-mpath knows {}; use a newer one",
                       place, version->get<std::uint64_t>(), kRecordVersion);
    }
    if (version->get<std::uint64_t>() == 0) {
        return failure(EINVAL, "{} says version 0, which no fio-mpath wrote", place);
    }
    return {};
}

Json parse(std::string_view text) {
    return Json::parse(text, nullptr, false);
}

/// Gives every whole line after the first to `take`, as long as that is content.
template <typename Take>
Result<void> read_lines(const std::string& file, std::string_view format, const char* what, Take take) {
    const auto text = read_all(file);
    if (!text) {
        return tl::unexpected(text.error());
    }
    std::size_t line_number = 0;
    // Only what ends with a newline is a whole line.
    for (std::size_t begin = 0, end = 0; (end = text->find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        const std::string place = fmt::format("{} line {}", file, ++line_number);
        const Json json = parse(std::string_view(*text).substr(begin, end - begin));
        if (json.is_discarded()) {
            return failure(EINVAL, "{} is no JSON", place);
        }
        Result<void> taken = line_number == 1 ? check_format(json, format, file) : take(json, place);
        if (!taken) {
            return taken;
        }
    }
    if (line_number == 0) {
        return failure(EINVAL, "{} is no {}, or was cut off in its first line", file, what);
    }
    return {};
}

} // namespace

Result<Record> from_json(std::string_view text, const std::string& place) {
    const Json json = parse(text);
    if (json.is_discarded()) {
        return failure(EINVAL, "{} is no JSON, or was cut off", place);
    }
    if (const auto known = check_format(json, kRecordFormat, place); !known) {
        return tl::unexpected(known.error());
    }
    Record record;
    std::string fault;
    read_json(json, "", fault, record);
    if (!fault.empty()) {
        return failure(EINVAL, "{} is a broken record: {}", place, fault);
    }
    if (record.conditions.paths.size() != record.results.paths.size()) {
        return failure(EINVAL, "{} is a broken record: conditions of {} paths and results of {}", place,
                       record.conditions.paths.size(), record.results.paths.size());
    }
    return record;
}

Result<Record> read_record(const std::string& file) {
    const auto text = read_all(file);
    if (!text) {
        return tl::unexpected(text.error());
    }
    return from_json(*text, file);
}

Result<std::vector<Interval>> read_intervals(const std::string& file) {
    std::vector<Interval> intervals;
    const auto read =
        read_lines(file, kIntervalsFormat, "interval file", [&](const Json& json, const std::string& place) {
            std::string fault;
            read_json(json, "", fault, intervals.emplace_back());
            return fault.empty() ? Result<void>{}
                                 : failure(EINVAL, "{} is a broken interval: {}", place, fault);
        });
    return read ? Result<std::vector<Interval>>(std::move(intervals)) : tl::unexpected(read.error());
}

Result<Visits> read_visits(const std::string& file) {
    Visits all;
    const auto read = read_lines(
        file, kVisitsFormat, "visits file", [&](const Json& json, const std::string& place) -> Result<void> {
            if (all.folded) {
                return failure(EINVAL, "{} comes after the folded visits, which are the last line", place);
            }
            std::string fault;
            if (json.is_object() && json.contains("folded_visits")) {
                read_json(json, "", fault, all.folded.emplace());
            } else {
                const std::uint64_t before = all.visits.empty() ? 0 : all.visits.back().number;
                read_json(json, "", fault, all.visits.emplace_back());
                if (fault.empty() && all.visits.back().number <= before) {
                    fault = fmt::format("number {} after {}", all.visits.back().number, before);
                }
            }
            return fault.empty() ? Result<void>{} : failure(EINVAL, "{} is a broken visit: {}", place, fault);
        });
    return read ? Result<Visits>(std::move(all)) : tl::unexpected(read.error());
}

} // namespace mpath::record
