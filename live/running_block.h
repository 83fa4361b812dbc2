// SPDX-License-Identifier: GPL-2.0-only
// The control blocks of fio processes that run now, seen from another process of the same user: for watching
// jobs, and for steering them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "live/job_slot.h"
#include "live/process.h"

namespace mpath::live {

/// A control block whose owner runs.
struct FoundBlock {
    std::string file;
    ProcessId owner;
    uid_t user = 0;
    bool ours = false; ///< false: of another user, whose jobs are not ours to touch
};

/// Those in `directory` whose owner runs and shares the pid namespace of `self`, the oldest first. Blocks
/// that a dead fio left behind are not told; the next run removes them.
std::vector<FoundBlock> find_running_blocks(const std::string& directory, const ProcessId& self);

/// Keeps others from steering the same fio; while the block is there.
class BlockLock {
public:
    explicit BlockLock(int fd) : fd_(fd) {}
    BlockLock(BlockLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    BlockLock& operator=(BlockLock&&) = delete;
    BlockLock(const BlockLock&) = delete;
    BlockLock& operator=(const BlockLock&) = delete;
    ~BlockLock();

private:
    int fd_;
};

/// A block of this user, mapped. It stays readable after fio has ended and its file is gone.
class RunningBlock {
public:
    /// Errors: EPERM when it is another user's, ENOTSUP when it is laid out by another version, EAGAIN when
    /// fio has only begun to make it, ENOENT when fio has ended, whatever open(2) and mmap(2) say.
    static Result<RunningBlock> open(const FoundBlock& found);

    RunningBlock(RunningBlock&& other) noexcept;
    RunningBlock& operator=(RunningBlock&&) = delete;
    RunningBlock(const RunningBlock&) = delete;
    RunningBlock& operator=(const RunningBlock&) = delete;
    ~RunningBlock();

    [[nodiscard]] const ProcessId& owner() const { return owner_; }
    /// Its owner runs and has not removed it.
    [[nodiscard]] bool in_use() const;
    /// All jobs that fio has set up until now, in its order. They stay where they are as long as the block.
    [[nodiscard]] std::vector<JobSlot*> jobs() const;

    /// Who asks a job for something holds it; a process that ends loses it. EBUSY after `patience`.
    [[nodiscard]] Result<BlockLock> lock(Nanoseconds patience) const;
    /// Makes the operations of `setting`, on every path of a job of this block, real memory. ENOSPC when
    /// /dev/shm is full: nothing has changed then.
    [[nodiscard]] Result<void> make_room(const JobSlot& job, std::size_t setting) const;

private:
    RunningBlock(const FoundBlock& found, UniqueFd fd, std::byte* memory);

    std::string file_;
    ProcessId owner_;
    UniqueFd fd_;
    std::byte* memory_ = nullptr;
};

/// Where a job stands, and whether it is still there.
enum class JobStanding : std::uint8_t {
    prepared, ///< it has not begun
    running,
    ended,
    killed, ///< it had begun, but its process is gone
};

/// Looks into /proc for a job that says it runs.
JobStanding standing_of(const JobSlot& job);

} // namespace mpath::live
