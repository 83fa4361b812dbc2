// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace mpath {

/// State of a path group as the device reports it; the words are the kernel's (sysfs ana_state).
/// ALUA standby, unavailable and offline map to inaccessible, transitioning to change.
enum class PathState : std::uint8_t { optimized, non_optimized, inaccessible, persistent_loss, change };

std::string_view to_string(PathState state);

/// Whether I/O may be sent at all: the kernel's nvme_path_is_disabled() and the two states its selectors
/// accept.
constexpr bool is_usable(PathState state) {
    return state == PathState::optimized || state == PathState::non_optimized;
}

} // namespace mpath
