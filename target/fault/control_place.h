// SPDX-License-Identifier: GPL-2.0-only
// Where running targets are found by who wants to tell them something.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mpath::target {

/// The user's own folder, $XDG_RUNTIME_DIR/fio-mpath or /tmp/fio-mpath-UID, made if need be (0700). Fails if
/// it is not the user's alone.
Result<std::string> control_folder();

/// The sockets in it behind which a target runs. Takes away those of targets that are gone.
std::vector<std::string> running_targets(const std::string& folder);

/// Takes away the sockets in it whose targets were killed.
void forget_killed_targets(const std::string& folder);

/// A connection to the socket of a target, which blocks.
Result<UniqueFd> connect_control(const std::string& path);

} // namespace mpath::target
