// SPDX-License-Identifier: GPL-2.0-only
// fio's job files, read by the rules of fio 3.33 (init.c __parse_jobs_ini, parse.c strip_blank_end): sections
// of lines, `include FILE` replaced by the lines of that file.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mpath::run {

/// fio reads a line into so many bytes, and cuts what is longer (OPT_LEN_MAX, less the line feed and the
/// NUL).
inline constexpr std::size_t kLongestLine = 4096 - 2;

/// A line as it stands in the file, without its line feed.
struct Line {
    std::string text;
    std::string file;
    std::size_t number = 0; ///< from 1

    [[nodiscard]] std::string place() const { return fmt::format("{}:{}", file, number); }
};

struct Section {
    std::string name;
    Line heading;
    std::vector<Line> lines; ///< comments and empty ones included

    /// Gives defaults to the sections after it; fio looks at the first six letters only.
    [[nodiscard]] bool is_global() const { return name.starts_with("global"); }
};

/// `name=value`, or `name` alone.
struct Option {
    std::string name;
    std::optional<std::string> value;
};

/// Empty for comments and blank lines. What follows ';' or '#' is no part of it.
[[nodiscard]] std::optional<Option> parse_option(std::string_view line);

/// The whole text of a file, or an error that names it.
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

/// What stands before the first section must be comment; an included file has no sections and is looked for
/// where fio does: as named, then beside the file that includes it.
[[nodiscard]] Result<std::vector<Section>> read_job_file(const std::string& name, const ReadFile& read);

} // namespace mpath::run
