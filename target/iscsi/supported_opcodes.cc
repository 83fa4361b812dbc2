// SPDX-License-Identifier: GPL-2.0-only
// REPORT SUPPORTED OPERATION CODES. SPC-4, section 6.35.
#include <algorithm>
#include <cstring>

#include "target/iscsi/command_set.h"
#include "target/iscsi/control_command.h"
#include "target/page.h"

namespace mpath::target::scsi {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint8_t kTimeouts = 0x80; // RCTD
constexpr unsigned kAllCommands = 0;
constexpr unsigned kOneOpcode = 1;
constexpr unsigned kOneAction = 2;
constexpr std::uint8_t kHasAction = 0x01;   // SERVACTV
constexpr std::uint8_t kHasTimeouts = 0x02; // CTDP
constexpr std::uint8_t kNotSupported = 0x01;
constexpr std::uint8_t kSupported = 0x03;
constexpr std::uint8_t kOneHasTimeouts = 0x80; // CTDP of one command
constexpr std::uint16_t kTimeoutsSize = 12;

void append_timeouts(Bytes& data) {
    append(data, Be16(kTimeoutsSize - 2));
    data.resize(data.size() + kTimeoutsSize - 2); // none are said
}

Built list_all(const Unit& unit, bool timeouts) {
    Bytes list;
    for (const CommandInfo& command : all_commands()) {
        if (!is_there(command, unit.node.options())) {
            continue;
        }
        const bool has_action = command.action != kNoAction;
        append(list, std::array<std::uint8_t, 2>{command.opcode, 0});
        append(list, Be16(static_cast<std::uint16_t>(has_action ? command.action : 0)));
        append(list,
               std::array<std::uint8_t, 2>{0, static_cast<std::uint8_t>((has_action ? kHasAction : 0) |
                                                                        (timeouts ? kHasTimeouts : 0))});
        append(list, Be16(command.length));
        if (timeouts) {
            append_timeouts(list);
        }
    }
    Built built;
    append(built.data, Be32(static_cast<std::uint32_t>(list.size())));
    built.data.insert(built.data.end(), list.begin(), list.end());
    return built;
}

Built describe(const CommandInfo* command, bool timeouts) {
    Built built;
    const bool is_known = command != nullptr;
    append(built.data, std::array<std::uint8_t, 2>{
                           0, static_cast<std::uint8_t>((is_known ? kSupported : kNotSupported) |
                                                        (is_known && timeouts ? kOneHasTimeouts : 0))});
    append(built.data, Be16(is_known ? command->length : 0));
    if (is_known) {
        const auto* usage = reinterpret_cast<const std::byte*>(command->usage.data());
        built.data.insert(built.data.end(), usage, usage + command->length);
        if (timeouts) {
            append_timeouts(built.data);
        }
    }
    return built;
}

} // namespace

Built report_opcodes(const Unit& unit, const iscsi::Cdb& cdb) {
    const unsigned which = cdb[2] & 7;
    const bool timeouts = (cdb[2] & kTimeouts) != 0;
    Be16 action;
    Be32 room;
    std::memcpy(&action, cdb.data() + 4, sizeof(action));
    std::memcpy(&room, cdb.data() + 6, sizeof(room));
    if (which == kAllCommands) {
        return fitted(list_all(unit, timeouts).data, room);
    }
    const auto commands = all_commands();
    const auto like_it = [&](const CommandInfo& known) {
        return known.opcode == cdb[3] && is_there(known, unit.node.options());
    };
    const auto first = std::find_if(commands.begin(), commands.end(), like_it);
    const bool has_actions = first != commands.end() && first->action != kNoAction;
    if (which > kOneAction || (first != commands.end() && (which == kOneAction) != has_actions)) {
        return refused(outcome::kInvalidField);
    }
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CommandInfo& known) {
        return like_it(known) && (which == kOneOpcode || known.action == action);
    });
    return fitted(describe(found == commands.end() ? nullptr : &*found, timeouts).data, room);
}

} // namespace mpath::target::scsi
