// SPDX-License-Identifier: GPL-2.0-only
// The SCSI commands that logical units here know.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "iscsi/wire/scsi.h"
#include "target/options.h"

namespace mpath::target::scsi {

/// States in which a command is carried out, beside the active ones.
namespace answered_in {
inline constexpr std::uint8_t kActive = 0;
inline constexpr std::uint8_t kStandby = 1U << 0;
inline constexpr std::uint8_t kAlways = kStandby | 1U << 1;
} // namespace answered_in

struct CommandInfo {
    std::uint8_t opcode;
    int action;          ///< service action; kNoAction: it has none
    std::uint8_t length; ///< of the descriptor, bytes
    bool about_blocks;
    bool tells_attention;               ///< ends with a unit attention if there is one
    std::uint8_t states;                ///< answered_in::
    const bool Options::*needs;         ///< nullptr: always there
    std::array<std::uint8_t, 16> usage; ///< bits of the descriptor that are looked at, opcode first
};

inline constexpr int kNoAction = -1;

/// nullptr: there is no such command.
const CommandInfo* find_command(const iscsi::Cdb& cdb, const Options& options);
/// The whole table, and which part of it `options` leave.
std::span<const CommandInfo> all_commands();
bool is_there(const CommandInfo& command, const Options& options);

} // namespace mpath::target::scsi
