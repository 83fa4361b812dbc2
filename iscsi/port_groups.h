// SPDX-License-Identifier: GPL-2.0-only
// Asymmetric logical unit access: what REPORT TARGET PORT GROUPS says. SPC-4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/wire/scsi.h"
#include "path/state.h"

namespace mpath::iscsi {

/// standby, unavailable and offline are inaccessible, transitioning is change; lba_dependent (referrals) is
/// used like non_optimized. What is reserved is inaccessible.
[[nodiscard]] PathState path_state(AluaState state) noexcept;
/// The standard's word, where path_state() has another; otherwise empty.
[[nodiscard]] std::string_view own_name(AluaState state) noexcept;

struct ReportedGroup {
    std::uint16_t id = 0;
    AluaState state = AluaState::active_optimized;
    bool preferred = false;
    std::vector<std::uint16_t> ports; ///< relative target port identifiers

    bool operator==(const ReportedGroup&) const = default;
};

struct PortGroups {
    std::vector<ReportedGroup> groups;
    Nanoseconds transition_time = 0; ///< how long a transition may last; 0: not said

    bool operator==(const PortGroups&) const = default;
};

/// `extended`: it was asked for with kExtendedHeader; targets that ignore that are understood. EPROTO for a
/// list that is empty, or ends within a group.
[[nodiscard]] Result<PortGroups> parse_port_groups(std::span<const std::byte> data, bool extended);

} // namespace mpath::iscsi
