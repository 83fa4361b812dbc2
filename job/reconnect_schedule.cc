// SPDX-License-Identifier: GPL-2.0-only
#include "job/reconnect_schedule.h"

#include <algorithm>

namespace mpath::job {

std::optional<Nanoseconds> ReconnectSchedule::next(Nanoseconds now) noexcept {
    const auto last = limit();
    if (last && now >= *last) {
        return std::nullopt;
    }
    ++attempts_;
    const Nanoseconds due = now + options_.reconnect_delay;
    return last ? std::min(due, *last) : due;
}

std::optional<Nanoseconds> ReconnectSchedule::failing_at() const noexcept {
    if (!options_.fast_io_fail_tmo) {
        return std::nullopt;
    }
    return lost_at_ + *options_.fast_io_fail_tmo;
}

std::optional<Nanoseconds> ReconnectSchedule::limit() const noexcept {
    if (!options_.ctrl_loss_tmo) {
        return std::nullopt;
    }
    const Nanoseconds delay = options_.reconnect_delay;
    return lost_at_ + (*options_.ctrl_loss_tmo + delay - 1) / delay * delay;
}

} // namespace mpath::job
