// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "nvme/wire/status.h"

namespace mpath::target {

/// A status by name ("internal-error"), by one number ("302h") or by two, SCT/SC, hexadecimal ("3/02").
/// Success is none.
Result<nvme::Status> parse_status(std::string_view text);

/// All names, with their numbers.
std::string status_names();

} // namespace mpath::target
