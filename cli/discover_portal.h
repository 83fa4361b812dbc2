// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "iscsi/session_options.h"

namespace mpath::cli {

/// Asks the iSCSI portal `host`:`port` for its targets and each of these for its LUNs, and prints what they
/// say. The exit status.
int discover_portal(const std::string& host, std::uint16_t port, const iscsi::SessionOptions& options,
                    bool json);

} // namespace mpath::cli
