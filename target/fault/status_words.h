// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "nvme/wire/status.h"
#include "target/fault/action.h"

namespace mpath::target {

/// A status by name ("internal-error"), by one number ("302h") or by two, SCT/SC, hexadecimal ("3/02").
/// Success is none.
Result<nvme::Status> parse_status(std::string_view text);

/// A SCSI status other than CHECK CONDITION: "busy", "task-set-full", "18h".
Result<ScsiFailure> parse_scsi_status(std::string_view text);
/// CHECK CONDITION with sense key, ASC and ASCQ, hexadecimal: "3/11/00".
Result<ScsiFailure> parse_sense(std::string_view text);
/// Of a login: a name ("target-removed") or class and detail ("0204h").
Result<std::uint16_t> parse_login_status(std::string_view text);
std::string scsi_status_names();
std::string login_status_names();

/// All names, with their numbers.
std::string status_names();

} // namespace mpath::target
