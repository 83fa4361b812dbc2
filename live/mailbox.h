// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <limits>

#include "record/counter.h"

namespace mpath::live {

/// Mailbox::setting of a request to leave what was asked for last and go back to the job's own schedule.
inline constexpr std::uint64_t kFollowSchedule = std::numeric_limits<std::uint64_t>::max();

/// How a request reaches a running job. Whoever asks holds the block's lock (only one asks at a time), lays
/// the request down, then raises `requested` by one (release). The job's I/O thread compares it (acquire)
/// with `acknowledged` once per engine call, which is one load as long as nothing is asked; it carries the
/// request out, fills in the answer and stores the same number into `acknowledged` (release).
struct Mailbox {
    record::Word requested;
    record::Word setting;      ///< index of the setting to go to, or kFollowSchedule
    record::Word requested_at; ///< CLOCK_MONOTONIC

    record::Word acknowledged;
    record::Word acknowledged_at; ///< CLOCK_MONOTONIC
    record::Word refused;         ///< 0, or the errno of a request that could not be carried out
};

} // namespace mpath::live
