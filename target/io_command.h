// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvme/wire/command.h"
#include "nvme/wire/status.h"
#include "target/listener.h"
#include "target/subsystem.h"

namespace mpath::target {

/// What an I/O command is about, once it has been found possible.
struct IoPlan {
    nvme::Status status{};       ///< the rest has no meaning unless this is success
    Namespace* space = nullptr;  ///< nullptr: all of them (Flush)
    std::uint64_t offset = 0;    ///< bytes
    std::uint64_t length = 0;    ///< bytes the command is about
    std::uint32_t from_host = 0; ///< bytes the host has to send
};

IoPlan plan_io(const Subsystem& subsystem, const Listener& listener, const nvme::Sqe& sqe);

/// Zeroes the ranges of a Dataset Management command; on an error some of them may have been. `max_blocks` of
/// each: 0 = no limit.
nvme::Status deallocate(Namespace& space, std::span<const nvme::DsmRange> ranges, std::uint32_t max_blocks);

} // namespace mpath::target
