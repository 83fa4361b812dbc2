// SPDX-License-Identifier: GPL-2.0-only
// The commands that carry a job's I/O. SBC-3.
#pragma once

#include <cstdint>
#include <cstring>

#include "iscsi/wire/scsi.h"

namespace mpath::iscsi {

/// A command's block, as a SCSI command PDU carries it.
template <typename Command>
[[nodiscard]] Cdb cdb_of(const Command& command) noexcept {
    static_assert(sizeof(Command) <= sizeof(Cdb));
    Cdb cdb{};
    std::memcpy(cdb.data(), &command, sizeof command);
    return cdb;
}

/// READ(16), WRITE(16), SYNCHRONIZE CACHE(16), WRITE SAME(16). `flags`: cdb_flag::.
[[nodiscard]] inline Cdb block_command(std::uint8_t opcode, std::uint8_t flags, std::uint64_t lba,
                                       std::uint32_t blocks) noexcept {
    BlockCdb command;
    command.opcode = opcode;
    command.flags = flags;
    command.lba = lba;
    command.blocks = blocks;
    return cdb_of(command);
}

/// The parameter list of an UNMAP of one range.
struct UnmapList {
    UnmapHeader header;
    UnmapDescriptor range;

    UnmapList() = default;
    UnmapList(std::uint64_t lba, std::uint32_t blocks) noexcept {
        header.length = static_cast<std::uint16_t>(sizeof(UnmapList) - sizeof header.length);
        header.descriptors_length = static_cast<std::uint16_t>(sizeof range);
        range.lba = lba;
        range.blocks = blocks;
    }
};
MPATH_SIZE(UnmapList, 24);

/// The UNMAP that goes with it.
[[nodiscard]] inline Cdb unmap_command() noexcept {
    UnmapCdb command;
    command.length = static_cast<std::uint16_t>(sizeof(UnmapList));
    return cdb_of(command);
}

} // namespace mpath::iscsi
