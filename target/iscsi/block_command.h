// SPDX-License-Identifier: GPL-2.0-only
// Commands about blocks, judged by their descriptors. SBC-3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "iscsi/wire/scsi.h"
#include "target/iscsi/outcome.h"
#include "target/namespace.h"
#include "target/options.h"

namespace mpath::target::scsi {

/// What is to be done for a command.
enum class Act : std::uint8_t {
    control, ///< nothing to blocks: control_command.h
    read,
    write,
    flush,
    unmap,
    write_same,
    verify,
};

/// What a command is about, once it has been found possible.
struct Plan {
    Outcome outcome{}; ///< the rest has no meaning unless this is good
    Act act = Act::control;
    Namespace* space = nullptr;
    std::uint64_t offset = 0;         ///< bytes
    std::uint64_t length = 0;         ///< bytes it is about
    std::uint32_t from_initiator = 0; ///< bytes the initiator has to send
    bool force_unit_access = false;
};

/// Precondition: one that command_set.h says is about blocks.
Plan plan_block(const Options& options, Namespace& space, const iscsi::Cdb& cdb);

/// UNMAP, with its parameter list.
Outcome unmap(const Options& options, Namespace& space, std::span<const std::byte> list);
/// WRITE SAME. `block`: empty for zeroes.
void write_same(const Plan& plan, std::span<const std::byte> block);
/// VERIFY, when it compares.
Outcome verify(const Plan& plan, std::span<const std::byte> data);

} // namespace mpath::target::scsi
