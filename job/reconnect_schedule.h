// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "job/life_options.h"

namespace mpath::job {

/// When a path that was lost is connected again, and when that is given up. Attempts as Linux makes them
/// (nvmf_should_reconnect()), with one difference: the time that attempts take counts, so that a silent
/// target does not make ctrl_loss_tmo twice as long.
class ReconnectSchedule {
public:
    ReconnectSchedule(const LifeOptions& options, Nanoseconds lost_at)
        : options_(options), lost_at_(lost_at) {}

    /// When to make the next attempt, which counts as made; nothing: give up. `now`: when the path was lost,
    /// or the attempt before has failed.
    [[nodiscard]] std::optional<Nanoseconds> next(Nanoseconds now) noexcept;
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }
    [[nodiscard]] Nanoseconds lost_at() const noexcept { return lost_at_; }

    /// From when on I/O no longer waits for the path; nothing: it does as long as there are attempts.
    [[nodiscard]] std::optional<Nanoseconds> failing_at() const noexcept;

private:
    /// When the last attempt is due.
    [[nodiscard]] std::optional<Nanoseconds> limit() const noexcept;

    LifeOptions options_;
    Nanoseconds lost_at_;
    std::uint32_t attempts_ = 0;
};

} // namespace mpath::job
