// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace mpath::net {

/// Timers of one thread. Not for the I/O path: adding one allocates.
class TimerQueue {
public:
    using Callback = std::function<void()>;
    /// Names one timer; never used again after it fired or was cancelled.
    using Id = std::pair<Nanoseconds, std::uint64_t>;

    Id add(Nanoseconds deadline, Callback callback);
    void cancel(const Id& id) { timers_.erase(id); }
    [[nodiscard]] std::optional<Nanoseconds> next() const;
    /// Runs every timer whose deadline is at or before `now`, in order of deadlines. A callback may add and
    /// cancel timers; one that it adds as already due runs in the next call.
    void run_due(Nanoseconds now);

private:
    std::map<Id, Callback> timers_;
    std::uint64_t sequence_ = 0;
};

} // namespace mpath::net
