// SPDX-License-Identifier: GPL-2.0-only
// The shared memory of one fio run: a file in /dev/shm, made by the first setup() in fio's parent before any
// job exists and inherited by all of them.
//
// fio names its jobs one after another and never says how many come, so a large stretch of addresses is
// reserved once and the file grows slot by slot under it. Each slot's memory is allocated when it is added: a
// full /dev/shm is a sentence in setup() and never a SIGBUS in a running job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "live/job_slot.h"

namespace mpath::live {

inline constexpr std::uint64_t kMagic = 0x314B'4C42'5041'504D; ///< "MPAPBLK1" in memory
inline constexpr std::uint32_t kLayoutVersion =
    3; ///< raised by every change of a struct in live/ or record/counters.h
inline constexpr const char* kBlockDirectory = "/dev/shm";
/// Addresses that a mapping of a block takes, not memory: room for some 4,000 paths of jobs with all their
/// settings.
inline constexpr std::size_t kReservedBytes = std::size_t{8} << 30;

/// First bytes of the file.
struct BlockHeader {
    std::uint64_t magic;
    std::uint32_t layout_version;
    std::uint32_t header_bytes; ///< where the first slot begins
    std::uint64_t owner_pid;    ///< in its own pid namespace
    std::uint64_t owner_start;  ///< clock ticks after boot, from /proc/PID/stat: a pid alone comes back
    std::uint64_t job_count;    ///< atomic, released after the slot it adds is complete
};

class ControlBlock {
public:
    /// Removes this user's stale blocks, then makes a new one (O_EXCL, mode 0600). Errors: EEXIST when this
    /// process has one already, ENOSPC, ENOMEM, whatever open(2) says.
    static Result<ControlBlock> create(const std::string& directory = kBlockDirectory);

    ControlBlock(ControlBlock&& other) noexcept;
    ControlBlock& operator=(ControlBlock&&) = delete;
    ControlBlock(const ControlBlock&) = delete;
    ControlBlock& operator=(const ControlBlock&) = delete;
    /// Unmaps; in the owner's process also removes the file. A forked job leaves the file alone.
    ~ControlBlock();

    /// A slot for one more job, valid as long as the block, in this process and in those forked from it
    /// afterwards. Errors: ENOSPC when /dev/shm is full, E2BIG when the reserved addresses are.
    /// Only in the owner, not from two threads at once.
    Result<JobSlot*> add_job(const JobDescription& job);

    /// All jobs in the order they were added.
    [[nodiscard]] std::vector<const JobSlot*> jobs() const;
    [[nodiscard]] std::vector<JobSlot*> slots() const;
    [[nodiscard]] const std::string& file() const { return file_; }
    /// True in the process that made it, false in forked jobs.
    [[nodiscard]] bool owned() const;

private:
    ControlBlock(std::string file, UniqueFd fd, std::byte* memory);
    [[nodiscard]] BlockHeader& header() const { return *reinterpret_cast<BlockHeader*>(memory_); }

    std::string file_;
    UniqueFd fd_;
    std::byte* memory_ = nullptr;
    std::uint64_t used_ = 0; ///< bytes
    pid_t owner_ = 0;
};

} // namespace mpath::live
