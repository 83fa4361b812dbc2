// SPDX-License-Identifier: GPL-2.0-only
// REPORT TARGET PORT GROUPS: a group for each portal. SPC-4, section 6.37.
#include <cstring>

#include "target/iscsi/control_command.h"
#include "target/page.h"

namespace mpath::target::scsi {

namespace {

// States that are supported: transitioning, offline, unavailable, standby, both active ones.
constexpr std::uint8_t kSupportedStates = 0x80 | 0x40 | 0x08 | 0x04 | 0x02 | 0x01;
constexpr std::uint8_t kChangedImplicitly = 0x02;
constexpr std::uint8_t kFormatMask = 0xe0;

} // namespace

Built report_port_groups(const Unit& unit, const iscsi::Cdb& cdb) {
    iscsi::PortGroupsCdb request;
    std::memcpy(&request, cdb.data(), sizeof(request));
    const std::uint8_t format = request.action & kFormatMask;
    if (format != 0 && format != iscsi::kExtendedHeader) {
        return refused(outcome::kInvalidField);
    }
    const Subsystem& subsystem = unit.node.subsystem();
    const std::uint32_t group_of_unit = subsystem.group_of(unit.space->nsid());
    std::vector<std::byte> groups;
    for (const Listener* portal : unit.node.portals()) {
        const std::uint16_t tag = unit.node.tag_of(*portal);
        append(groups,
               iscsi::PortGroup{.state = static_cast<std::uint8_t>(portal->access_state(group_of_unit).alua),
                                .supported = kSupportedStates,
                                .id = tag,
                                .reserved4 = 0,
                                .status = static_cast<std::uint8_t>(
                                    portal->ana.change_count() > 1 ? kChangedImplicitly : 0),
                                .vendor = 0,
                                .ports = 1});
        append(groups, iscsi::PortDescriptor{.obsolete0 = {}, .relative_port = tag});
    }
    const auto length = static_cast<std::uint32_t>(groups.size());
    std::vector<std::byte> data;
    if (format == iscsi::kExtendedHeader) {
        iscsi::ExtendedPortGroupsHeader header;
        header.length = length + 4;
        header.transition_time = unit.node.options().anatt;
        append(data, header);
    } else {
        append(data, Be32(length));
    }
    data.insert(data.end(), groups.begin(), groups.end());
    return fitted(std::move(data), request.allocation);
}

} // namespace mpath::target::scsi
