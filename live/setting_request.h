// SPDX-License-Identifier: GPL-2.0-only
// Asking a running job to go to a setting, from another process (live/mailbox.h has the words in memory).
//
// Who asks holds the block's lock, from looking for the setting until the request is laid down, and not while
// it waits for the answer: a job may sleep, or not have begun. So a request may find one before it that
// nobody has answered yet, whether its asker still waits or died. It is written over, and the newest one
// wins:
//
//   asker, with the lock     setting's slot, settings_named (release)
//                            Mailbox::setting, requested_at, requested (each with release)
//   job's I/O thread         Mailbox::requested (acquire), Mailbox::setting, settings_named (acquire);
//                            goes there, or refuses what it does not see named; acknowledges `requested`
//
// While it is written over, the I/O thread may see the number of the old request with the setting of the new
// one. It goes there (or refuses), acknowledges the old number, sees the new number at its next look and goes
// there again, which begins one more visit to the same setting. What it goes to was always named, whole, and
// asked for by somebody; so an asker's death between any two steps leaves no more than a request that is
// carried out under the number before it, or never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "live/job_slot.h"
#include "live/running_block.h"

namespace mpath::live {

/// The setting that a job was asked for last, whether it has followed or not; otherwise the one it is in.
std::size_t latest_setting(const JobSlot& job);

/// One of the job's settings, when it has it already.
std::optional<std::size_t> find_setting(const JobSlot& job, std::string_view policy, PathSubset paths);

struct SettingWish {
    std::string name; ///< as SettingSlot
    std::string policy;
    PathSubset paths = kAllPaths;
};

/// Makes real memory of what the job will count in, the transition included, so that it can be asked for
/// `wish`: ENOSPC when /dev/shm is full, E2BIG when the job has no room for a further setting. With the lock.
Result<void> prepare_setting(const RunningBlock& block, JobSlot& job, const SettingWish& wish);

/// Index of the job's setting that is like `wish`, or of one that gets its name now. With the lock, after
/// prepare_setting().
std::size_t find_or_name_setting(JobSlot& job, const SettingWish& wish);

/// Asks for `setting` (index, or kFollowSchedule) at `now`. With the lock. The request's number, for
/// answer_to().
std::uint64_t ask(JobSlot& job, std::uint64_t setting, Nanoseconds now);

struct Answer {
    int refused = 0;        ///< errno; 0: carried out
    Nanoseconds at = 0;     ///< CLOCK_MONOTONIC
    bool overtaken = false; ///< somebody has asked for something else since, so the rest may be of that

    bool operator==(const Answer&) const = default;
};

/// Nothing while the job has not got there.
std::optional<Answer> answer_to(const JobSlot& job, std::uint64_t request);

} // namespace mpath::live
