// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"
#include "record/file.h"
#include "record/json_out.h"
#include "record/record.h"

namespace mpath::record {

namespace {

/// What fio hands over need not be UTF-8; what is not becomes U+FFFD instead of an exception.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string first_line(std::string_view format) {
    return text_of({{"format", format}, {"version", kRecordVersion}});
}

} // namespace

std::string to_json(const Record& record) {
    Json json{{"format", kRecordFormat}, {"version", kRecordVersion}};
    json.update(json_of(record));
    return text_of(json) + "\n";
}

Result<void> write_record(const std::string& file, const Record& record) {
    return replace_file(file, to_json(record), "the record", "; see mpath_log=");
}

Result<IntervalWriter> IntervalWriter::create(const std::string& file) {
    return LinesFile::create(file, "the interval file", first_line(kIntervalsFormat))
        .map([](LinesFile lines) { return IntervalWriter(std::move(lines)); });
}

Result<void> IntervalWriter::append(const Interval& interval) {
    return lines_.append(text_of(json_of(interval)) + "\n");
}

Result<VisitWriter> VisitWriter::create(const std::string& file) {
    return LinesFile::create(file, "the visits file", first_line(kVisitsFormat)).map([](LinesFile lines) {
        return VisitWriter(std::move(lines));
    });
}

Result<void> VisitWriter::append(const Visit& visit) {
    return lines_.append(text_of(json_of(visit)) + "\n");
}

Result<void> VisitWriter::append(const FoldedTally& folded) {
    return lines_.append(text_of(json_of(folded)) + "\n");
}

} // namespace mpath::record
