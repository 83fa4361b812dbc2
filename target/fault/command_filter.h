// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "iscsi/wire/pdu.h"
#include "nvme/wire/command.h"
#include "target/fault/request_kind.h"

namespace mpath::target {

inline constexpr int kNoQueue = -1;

/// What a fault may be about, as it is met on a connection.
struct Subject {
    std::uint16_t controller = 0; ///< 0: not connected; iSCSI: the session (TSIH)
    int queue = kNoQueue;         ///< kNoQueue: not connected, or iSCSI; for a Connect the one it asks for
    const nvme::Sqe* command = nullptr;  ///< nullptr: the connection itself
    const iscsi::Bhs* request = nullptr; ///< the same of iSCSI
    std::uint32_t group = 0;             ///< of the command's namespace; 0: it has none
};

/// A kind of command, by the name that scripts have for it.
struct CommandFilter {
    enum class Queues : std::uint8_t { io, admin, any };

    std::string_view name;
    Queues queues = Queues::io;
    int opcode = -1;                                 ///< -1: all; kNoOpcode: none of NVMe
    int detail = -1;                                 ///< Fabrics command type or log page; -1: all
    std::uint32_t requests = request_kind::kNothing; ///< what it is of iSCSI: request_kind::

    [[nodiscard]] bool matches(const Subject& subject) const;
    [[nodiscard]] bool is_known_to_nvme() const { return opcode != kNoOpcode; }
    [[nodiscard]] bool is_known_to_iscsi() const { return requests != request_kind::kNothing; }

    static constexpr int kNoOpcode = -2;
};

/// nullptr: no kind of command has this name. What it points to stays for ever.
const CommandFilter* find_command_filter(std::string_view name);
/// All names, "io, read, write, ..."
std::string command_filter_names();

} // namespace mpath::target
