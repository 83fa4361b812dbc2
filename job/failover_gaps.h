// SPDX-License-Identifier: GPL-2.0-only
// The failover gap: the longest time without any completion while I/O was outstanding, between the last
// completion of the path in trouble and the last completion of the I/Os that it gave back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "live/event_log.h"

namespace mpath::job {

/// On the job's I/O thread; allocates nothing once the paths are added.
class FailoverGaps {
public:
    explicit FailoverGaps(live::EventLog& events) : events_(events) {}
    void add_path() { paths_.emplace_back(); }

    // ---- on the I/O path

    /// The first I/O after a time with none outstanding.
    void begin(Nanoseconds now) noexcept { last_ = now; }
    /// One ended well on this path.
    void completed(std::size_t path, Nanoseconds at) noexcept { paths_[path].last_completion = at; }
    /// After each look that found completions.
    void note(Nanoseconds now) noexcept {
        if (now - last_ > kNoticeable || open_ > 0) {
            note_gap(now);
        }
        last_ = now;
    }

    // ---- in trouble

    /// An attempt failed on `path` because of the path; the I/O goes on.
    void gave_back(std::size_t path) noexcept;
    /// Such an I/O has ended, wherever.
    void returned(std::size_t path) noexcept;
    void exposed(std::size_t path) noexcept { ++paths_[path].now.exposed; }
    /// The event that the path's trouble comes from: what was seen since, and shortly before it, is told of
    /// it.
    void trouble(std::size_t path, live::EventLog::Handle event) noexcept;
    /// The path is well again.
    void well(std::size_t path) noexcept;

private:
    /// Gaps this short are only looked at in the middle of trouble.
    static constexpr Nanoseconds kNoticeable = 100 * kMicrosecond;
    static constexpr std::size_t kRemembered = 64;

    struct Gap {
        Nanoseconds begin = 0;
        Nanoseconds end = 0;
        [[nodiscard]] Nanoseconds length() const noexcept { return end - begin; }
    };

    /// What an event has cost, beside the gap.
    struct Cost {
        live::EventLog::Handle event = live::EventLog::kNoEvent;
        std::uint64_t gave_back = 0; ///< I/Os
        std::uint64_t exposed = 0;
    };

    struct PathTrouble {
        Nanoseconds last_completion = 0;
        Nanoseconds since = 0;  ///< the window's beginning
        std::uint64_t away = 0; ///< I/Os given back and not ended
        std::optional<Nanoseconds> gap;
        bool over = false; ///< the path is well again, but for them
        Cost now;
        Cost before; ///< of the event before, whose I/Os were still away when the next one came
    };

    void note_gap(Nanoseconds now) noexcept;
    void remember(const Gap& gap) noexcept;
    [[nodiscard]] Nanoseconds longest_since(Nanoseconds since) const noexcept;
    void tell(const Cost& cost, std::optional<Nanoseconds> gap) noexcept;

    live::EventLog& events_;
    std::vector<PathTrouble> paths_;
    Nanoseconds last_ = 0;              ///< completion of any path, or begin()
    std::size_t open_ = 0;              ///< paths whose I/Os are away
    std::array<Gap, kRemembered> gaps_; ///< in order, each longer than those behind it
    std::size_t gap_count_ = 0;
};

} // namespace mpath::job
