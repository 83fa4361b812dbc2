// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "base/result.h"

namespace mpath::cli {

/// Where `fio-mpath run` puts the job file for fio and the records: a folder of the user's, which stays, or
/// one of our own that ends with us.
class RunFolder {
public:
    /// `keep` empty: a new folder in TMPDIR, mode 0700. Otherwise that folder, made if need be.
    static Result<RunFolder> create(const std::string& keep);
    RunFolder(RunFolder&& other) noexcept;
    RunFolder& operator=(RunFolder&&) = delete;
    ~RunFolder();

    /// Absolute; begins the names of this run's files, which no earlier run has taken.
    [[nodiscard]] std::string prefix(const std::string& job_file) const;

private:
    RunFolder(std::string path, bool ours) : path_(std::move(path)), ours_(ours) {}

    std::string path_;
    bool ours_;
};

} // namespace mpath::cli
