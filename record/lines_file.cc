// SPDX-License-Identifier: GPL-2.0-only
#include "record/lines_file.h"

#include <fcntl.h>

#include "record/file.h"

namespace mpath::record {

Result<LinesFile> LinesFile::create(const std::string& file, std::string_view what,
                                    std::string_view first_line) {
    UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid()) {
        return failure(errno, "{} {} can't be made: {}; see mpath_log=", what, file, reason_of(errno));
    }
    LinesFile lines(file, std::move(fd));
    if (const auto written = lines.append(std::string(first_line) + "\n"); !written) {
        return tl::unexpected(written.error());
    }
    return lines;
}

Result<void> LinesFile::append(std::string_view lines) {
    return write_all(fd_.get(), lines, file_);
}

} // namespace mpath::record
