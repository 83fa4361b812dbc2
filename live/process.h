// SPDX-License-Identifier: GPL-2.0-only
// Who made a control block, and whether it is still there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace mpath::live {

/// A process, told apart from later ones with the same pid, and from those of other containers that share
/// /dev/shm but not the pids.
struct ProcessId {
    std::uint64_t pid_namespace = 0; ///< inode of /proc/PID/ns/pid
    std::uint64_t pid = 0;
    std::uint64_t start = 0; ///< clock ticks after boot: field 22 of /proc/PID/stat

    bool operator==(const ProcessId&) const = default;
};

Result<ProcessId> this_process();

/// When `pid` of our own pid namespace started; nothing when there is no such process or it is a zombie.
std::optional<std::uint64_t> start_of(std::uint64_t pid);

/// "fio-mpath.NAMESPACE.PID.START": a block tells its owner even before anything is written into it.
std::string block_name(const ProcessId& owner);
std::optional<ProcessId> owner_from_name(const std::string& name);

/// Removes blocks in `directory` that belong to this user and whose owner is gone. Those of other users and
/// other pid namespaces stay.
void remove_stale_blocks(const std::string& directory, const ProcessId& self);

} // namespace mpath::live
