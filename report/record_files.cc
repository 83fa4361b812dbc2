// SPDX-License-Identifier: GPL-2.0-only
#include "run/log_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

namespace mpath::run {
namespace {

namespace fs = std::filesystem;

bool is_record_of(const std::string& file, const std::string& prefix) {
    constexpr std::string_view kExtension = ".json";
    return file.starts_with(prefix + "_mpath.") && file.ends_with(kExtension);
}

auto order_of(const record::Record& record) {
    return std::tuple(record.conditions.host, record.conditions.server_port, record.results.thread_number);
}

} // namespace

Result<std::vector<record::Record>> find_records(std::span<const std::string> prefixes,
                                                 Nanoseconds since_utc) {
    std::vector<record::Record> records;
    for (const fs::path prefix : prefixes) {
        const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
        std::error_code fault;
        for (const auto& entry : fs::directory_iterator(folder, fault)) {
            if (!is_record_of(entry.path().filename(), prefix.filename())) {
                continue;
            }
            auto record = record::read_record(entry.path());
            if (!record) {
                return tl::unexpected(record.error());
            }
            if (record->written_utc >= since_utc) {
                records.push_back(std::move(*record));
            }
        }
        if (fault && fault != std::errc::no_such_file_or_directory) {
            return failure(fault.value(), "records in {} can't be looked for: {}", folder.string(),
                           fault.message());
        }
    }
    std::stable_sort(records.begin(), records.end(),
                     [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
    return records;
}

} // namespace mpath::run
