// SPDX-License-Identifier: GPL-2.0-only
// What a listener's ANA log can be made to say that no ANA log may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpath::target {

enum class AnaLie : std::uint8_t {
    group_0,
    group_beyond,
    state_0,
    state_7,
    nsids_beyond,
    groups_more,
    groups_fewer,
    count_moves,
};

std::optional<AnaLie> find_ana_lie(std::string_view name);

/// A line for each lie: its name and what the log says then.
std::string describe_ana_lies();

/// Makes a whole log say it. `groups`: ANAGRPMAX. Precondition: the log has a group. count_moves is not in
/// the log: its reader's business.
void tell(AnaLie lie, std::vector<std::byte>& log, std::uint32_t groups);

} // namespace mpath::target
