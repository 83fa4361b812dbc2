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
    const std::string aside = file + ".new";
    const UniqueFd fd(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid()) {
        return failure(errno, "the record {} can't be made: {}; see mpath_log=", aside, reason_of(errno));
    }
    if (auto written = write_all(fd.get(), to_json(record), aside); !written) {
        ::unlink(aside.c_str());
        return written;
    }
    if (::rename(aside.c_str(), file.c_str()) != 0) {
        const int code = errno;
        ::unlink(aside.c_str());
        return failure(code, "the record {} can't be put in place: {}", file, reason_of(code));
    }
    return {};
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
