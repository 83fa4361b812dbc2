// SPDX-License-Identifier: GPL-2.0-only
#include "report/record_files.h"

#include <filesystem>
#include <system_error>

namespace mpath::report {
namespace {

namespace fs = std::filesystem;

bool is_record_of(const std::string& file, const std::string& prefix) {
    constexpr std::string_view kExtension = ".json";
    return file.starts_with(prefix + "_mpath.") && file.ends_with(kExtension);
}

} // namespace

Result<std::vector<Job>> find_jobs(std::span<const std::string> prefixes, Nanoseconds since_utc) {
    std::vector<Job> jobs;
    for (const fs::path prefix : prefixes) {
        const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
        std::error_code fault;
        for (const auto& entry : fs::directory_iterator(folder, fault)) {
            if (!is_record_of(entry.path().filename(), prefix.filename())) {
                continue;
            }
            auto job = load_job(entry.path());
            if (!job) {
                return tl::unexpected(job.error());
            }
            if (job->record.written_utc >= since_utc) {
                jobs.push_back(std::move(*job));
            }
        }
        if (fault && fault != std::errc::no_such_file_or_directory) {
            return failure(fault.value(), "records in {} can't be looked for: {}", folder.string(),
                           fault.message());
        }
    }
    return jobs;
}

} // namespace mpath::report
