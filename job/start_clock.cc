// SPDX-License-Identifier: GPL-2.0-only
#include "job/start_clock.h"

#include <algorithm>
#include <utility>

namespace mpath::job {

StartClock::StartClock(live::JobSlot& self, std::vector<live::JobSlot*> together)
    : self_(&self), together_(std::move(together)) {}

Nanoseconds StartClock::began(Nanoseconds now) noexcept {
    record::Word& clock = together_.front()->clock_began;
    if (clock.get_acquire() == 0 &&
        (all_are_there() || now >= self_->counters.measuring_since.get() + kStartPatience)) {
        clock.set_once(now);
    }
    return clock.get_acquire();
}

bool StartClock::all_are_there() const noexcept {
    const auto earlier = [](const live::JobSlot* a, const live::JobSlot* b) {
        return a->start_delay.get() < b->start_delay.get();
    };
    const Nanoseconds first =
        (*std::min_element(together_.begin(), together_.end(), earlier))->start_delay.get();
    return std::all_of(together_.begin(), together_.end(), [first](const live::JobSlot* job) {
        return job->start_delay.get() > first || job->counters.measuring_since.get() != 0 ||
               static_cast<live::JobPhase>(job->phase.get()) == live::JobPhase::ended;
    });
}

} // namespace mpath::job
