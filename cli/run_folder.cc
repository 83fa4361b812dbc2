// SPDX-License-Identifier: GPL-2.0-only
#include "cli/run_folder.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mpath::cli {

namespace fs = std::filesystem;

Result<RunFolder> RunFolder::create(const std::string& keep) {
    std::error_code fault;
    if (!keep.empty()) {
        fs::create_directories(keep, fault);
        const fs::path path = fault ? fs::path() : fs::canonical(keep, fault);
        if (fault) {
            return failure(fault.value(), "--keep {}: {}", keep, fault.message());
        }
        return RunFolder(path, false);
    }
    const fs::path parent = fs::temp_directory_path(fault);
    std::string path = (parent / "fio-mpath-XXXXXX").string();
    if (fault || ::mkdtemp(path.data()) == nullptr) {
        const int code = fault ? fault.value() : errno;
        return failure(code, "a temporary folder can't be made: {}; set TMPDIR, or use --keep",
                       reason_of(code));
    }
    return RunFolder(path, true);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), ours_(std::exchange(other.ours_, false)) {}

RunFolder::~RunFolder() {
    std::error_code ignored;
    if (ours_) {
        fs::remove_all(path_, ignored);
    }
}

std::string RunFolder::prefix(const std::string& job_file) const {
    const std::string name = fs::path(job_file).stem();
    if (ours_) {
        return fs::path(path_) / name;
    }
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char stamp[32] = "";
    (void)std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &parts);
    std::string prefix = fs::path(path_) / fmt::format("{}-{}", name, stamp);
    for (int further = 2; fs::exists(prefix + ".fio"); ++further) {
        prefix = fs::path(path_) / fmt::format("{}-{}-{}", name, stamp, further);
    }
    return prefix;
}

} // namespace mpath::cli
