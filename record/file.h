// SPDX-License-Identifier: GPL-2.0-only
// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mpath::record {

/// Everything, or an error; never half.
Result<void> write_all(int fd, std::string_view text, const std::string& file);
Result<std::string> read_all(const std::string& file);

} // namespace mpath::record
