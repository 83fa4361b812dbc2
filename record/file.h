// SPDX-License-Identifier: GPL-2.0-only
// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mpath::record {

/// Everything, or an error; never half.
Result<void> write_all(int fd, std::string_view text, const std::string& file);
/// Written aside as FILE.new, then renamed: FILE is whole or as it was before. `what` is for the sentence of
/// an error: "the record", and `advice` ends it where the file can't be made: "; see mpath_log=".
Result<void> replace_file(const std::string& file, std::string_view text, std::string_view what,
                          std::string_view advice = "");
Result<std::string> read_all(const std::string& file);

} // namespace mpath::record
