// SPDX-License-Identifier: GPL-2.0-only
// Which options are in force in a section: those of the [global] sections before it, then its own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/job_file.h"

namespace mpath::run {

/// Value of an environment variable.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// `${NAME}` replaced as fio does it (options.c fio_option_dup_subs): an unset variable is empty.
[[nodiscard]] std::string expand(std::string_view text, const Environment& environment);

struct Setting {
    std::string raw;   ///< as in the file; empty for an option without value
    std::string value; ///< expanded
    Line line;
};

class SectionOptions {
public:
    void add(const Line& line, const Environment& environment);

    /// The last one given; nr_files is nrfiles. nullptr when not given.
    [[nodiscard]] const Setting* find(std::string_view name) const;
    /// "1" for an option without value, "" for one not given.
    [[nodiscard]] std::string value(std::string_view name) const;
    /// Every filename= line: fio adds the names of one to those of the lines before it, [global] included.
    [[nodiscard]] const std::vector<Setting>& filenames() const { return filenames_; }

private:
    std::map<std::string, Setting, std::less<>> settings_;
    std::vector<Setting> filenames_;
};

} // namespace mpath::run
