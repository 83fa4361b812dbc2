// SPDX-License-Identifier: GPL-2.0-only
// The record: the JSON file with everything a job measured and under which conditions. docs/record-schema.md
// explains it, docs/record.schema.json is generated from the same list of fields that writer and reader use
// (record/fields.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/conditions.h"
#include "record/results.h"

namespace mpath::record {

inline constexpr std::string_view kRecordFormat = "fio-mpath record";
inline constexpr std::string_view kIntervalsFormat = "fio-mpath intervals";
inline constexpr std::string_view kVisitsFormat = "fio-mpath visits";
/// Raised when a reader of the version before would misunderstand. Further keys don't raise it. All versions
/// from 1 are read. 2 has further kinds of events, and what events did to the I/O; 3 has several settings on
/// a path, the transition among them.
inline constexpr std::uint32_t kRecordVersion = 3;

struct Record {
    bool complete = false;         ///< false: a checkpoint; the job had not ended when it was written
    std::uint64_t written_utc = 0; ///< nanoseconds since 1970
    std::optional<std::string> intervals_file; ///< file name beside the record; empty: none is written
    std::optional<std::string> visits_file;    ///< likewise; empty as well: the job was never steered
    Conditions conditions;
    JobResult results;

    bool operator==(const Record&) const = default;
};

std::string to_json(const Record& record);
/// `place` is named in the error: the file's name.
Result<Record> from_json(std::string_view text, const std::string& place);

/// Written aside as FILE.new, then renamed: FILE is always a whole record. Not for the I/O thread.
Result<void> write_record(const std::string& file, const Record& record);
Result<Record> read_record(const std::string& file);

/// JSON Schema (2020-12) of a record, and of the lines of an interval and a visits file after the first.
std::string record_schema();

} // namespace mpath::record
