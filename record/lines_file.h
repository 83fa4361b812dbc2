// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mpath::record {

/// A file that only grows, line by line; the first line says what it is. Not for the I/O thread.
class LinesFile {
public:
    /// Made anew, and not through a symbolic link. `what` is for the sentence of an error: "the interval
    /// file".
    static Result<LinesFile> create(const std::string& file, std::string_view what,
                                    std::string_view first_line);
    /// Whole lines, with their newlines.
    Result<void> append(std::string_view lines);
    [[nodiscard]] const std::string& file() const { return file_; }

private:
    LinesFile(std::string file, UniqueFd fd) : file_(std::move(file)), fd_(std::move(fd)) {}

    std::string file_;
    UniqueFd fd_;
};

} // namespace mpath::record
