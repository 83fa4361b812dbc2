// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nvme/wire/command.h"

namespace mpath::target {

inline constexpr int kNoQueue = -1;

/// What a fault may be about, as it is met on a connection.
struct Subject {
    std::uint16_t controller = 0;       ///< 0: not connected
    int queue = kNoQueue;               ///< kNoQueue: not connected; for a Connect the one it asks for
    const nvme::Sqe* command = nullptr; ///< nullptr: the connection itself
    std::uint32_t group = 0;            ///< of the command's namespace; 0: it has none
};

/// A kind of command, by the name that scripts have for it.
struct CommandFilter {
    enum class Queues : std::uint8_t { io, admin, any };

    std::string_view name;
    Queues queues = Queues::io;
    int opcode = -1; ///< -1: all
    int detail = -1; ///< Fabrics command type or log page; -1: all

    [[nodiscard]] bool matches(const Subject& subject) const;
};

/// nullptr: no kind of command has this name. What it points to stays for ever.
const CommandFilter* find_command_filter(std::string_view name);
/// All names, "io, read, write, ..."
std::string command_filter_names();

} // namespace mpath::target
