// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/port_groups.h"

#include <algorithm>

#include "base/digest.h"

namespace mpath::iscsi {

PathState path_state(AluaState state) noexcept {
    switch (state) {
    case AluaState::active_optimized:
        return PathState::optimized;
    case AluaState::active_non_optimized:
    case AluaState::lba_dependent:
        return PathState::non_optimized;
    case AluaState::transitioning:
        return PathState::change;
    default:
        return PathState::inaccessible;
    }
}

std::string_view own_name(AluaState state) noexcept {
    switch (state) {
    case AluaState::active_optimized:
    case AluaState::active_non_optimized:
        return {};
    case AluaState::standby:
        return "standby";
    case AluaState::unavailable:
        return "unavailable";
    case AluaState::lba_dependent:
        return "LBA dependent";
    case AluaState::offline:
        return "offline";
    case AluaState::transitioning:
        return "transitioning";
    }
    return "reserved";
}

Result<PortGroups> parse_port_groups(std::span<const std::byte> data, bool extended) {
    if (data.size() < sizeof(Be32)) {
        return failure(EPROTO, "REPORT TARGET PORT GROUPS brought no list");
    }
    const std::size_t length = load<Be32>(data).get();
    auto rest = data.subspan(sizeof(Be32), std::min(length, data.size() - sizeof(Be32)));
    PortGroups found;
    if (extended && rest.size() >= sizeof(ExtendedPortGroupsHeader) - sizeof(Be32)) {
        const auto header = load<ExtendedPortGroupsHeader>(data);
        if ((header.format & 0x70) == 0x10) {
            found.transition_time = header.transition_time * kSecond;
            rest = rest.subspan(sizeof header - sizeof(Be32));
        }
    }
    while (!rest.empty()) {
        if (rest.size() < sizeof(PortGroup)) {
            return failure(EPROTO, "REPORT TARGET PORT GROUPS ends within a group");
        }
        const auto group = load<PortGroup>(rest);
        rest = rest.subspan(sizeof group);
        ReportedGroup reported{
            group.id, static_cast<AluaState>(group.state & 0x0f), (group.state & kPreferred) != 0, {}};
        for (std::size_t i = 0; i < group.ports && rest.size() >= sizeof(PortDescriptor); ++i) {
            reported.ports.push_back(load<PortDescriptor>(rest).relative_port);
            rest = rest.subspan(sizeof(PortDescriptor));
        }
        found.groups.push_back(std::move(reported));
    }
    if (found.groups.empty()) {
        return failure(EPROTO, "REPORT TARGET PORT GROUPS lists no group");
    }
    return found;
}

} // namespace mpath::iscsi
