// SPDX-License-Identifier: GPL-2.0-only
#include "net/timer_queue.h"

namespace mpath::net {

TimerQueue::Id TimerQueue::add(Nanoseconds deadline, Callback callback) {
    const Id id{deadline, ++sequence_};
    timers_.emplace(id, std::move(callback));
    return id;
}

std::optional<Nanoseconds> TimerQueue::next() const {
    if (timers_.empty()) {
        return std::nullopt;
    }
    return timers_.begin()->first.first;
}

void TimerQueue::run_due(Nanoseconds now) {
    const std::uint64_t last = sequence_;
    auto it = timers_.begin();
    while (it != timers_.end() && it->first.first <= now) {
        if (it->first.second > last) {
            ++it;
            continue;
        }
        const Callback callback = std::move(it->second);
        timers_.erase(it);
        callback();
        it = timers_.begin();
    }
}

} // namespace mpath::net
