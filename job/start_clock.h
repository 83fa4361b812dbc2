// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "base/clock.h"
#include "live/job_slot.h"

namespace mpath::job {

/// How long a job waits for the others that start together with it, after its own ramp.
inline constexpr Nanoseconds kStartPatience = 10 * kSecond;

/// The clock of steer=, common to all jobs that start together: it begins when the ramp of the last of them
/// is over. Jobs that come later (start_delay=) are not waited for, nor are those that ended, nor anybody
/// beyond kStartPatience; they join in the middle. Nobody stops doing I/O for it.
class StartClock {
public:
    /// `together` are the steered jobs that start together, in the order of their setup, `self` among them.
    StartClock(live::JobSlot& self, std::vector<live::JobSlot*> together);

    /// When the clock began; 0: it has not. Called by a job whose ramp is over.
    [[nodiscard]] Nanoseconds began(Nanoseconds now) noexcept;

private:
    [[nodiscard]] bool all_are_there() const noexcept;

    live::JobSlot* self_;
    std::vector<live::JobSlot*> together_; ///< the first of them keeps the clock
};

} // namespace mpath::job
