// SPDX-License-Identifier: GPL-2.0-only
#include "job/failover_gaps.h"

#include <algorithm>
#include <utility>

namespace mpath::job {

void FailoverGaps::note_gap(Nanoseconds now) noexcept {
    for (PathTrouble& path : paths_) {
        if (path.away > 0 && now > path.since) {
            path.gap = std::max(path.gap.value_or(0), now - std::max(last_, path.since));
        }
    }
    remember({last_, now});
}

/// A gap hides every shorter one before it, whatever window is asked for later. The oldest goes when there is
/// no room: it is the longest, but the furthest away.
void FailoverGaps::remember(const Gap& gap) noexcept {
    while (gap_count_ > 0 && gaps_[gap_count_ - 1].length() <= gap.length()) {
        --gap_count_;
    }
    if (gap_count_ == kRemembered) {
        std::copy(gaps_.begin() + 1, gaps_.end(), gaps_.begin());
        --gap_count_;
    }
    gaps_[gap_count_++] = gap;
}

Nanoseconds FailoverGaps::longest_since(Nanoseconds since) const noexcept {
    Nanoseconds longest = 0;
    for (std::size_t i = 0; i < gap_count_; ++i) {
        if (gaps_[i].end > since) {
            longest = std::max(longest, gaps_[i].end - std::max(gaps_[i].begin, since));
        }
    }
    return longest;
}

void FailoverGaps::gave_back(std::size_t index) noexcept {
    PathTrouble& path = paths_[index];
    if (path.away++ == 0) {
        ++open_;
        path.since = path.last_completion;
        path.gap = std::max(path.gap.value_or(0), longest_since(path.since));
    }
    ++path.now.gave_back;
}

void FailoverGaps::returned(std::size_t index) noexcept {
    PathTrouble& path = paths_[index];
    if (--path.away == 0) {
        --open_;
        tell(std::exchange(path.before, {}), path.gap);
        tell(path.now, path.gap);
        if (path.over) {
            well(index);
        }
    }
}

void FailoverGaps::tell(const Cost& cost, std::optional<Nanoseconds> gap) noexcept {
    if (cost.event != live::EventLog::kNoEvent && cost.gave_back > 0) {
        events_.set_failover(cost.event, gap, cost.gave_back, cost.exposed);
    }
}

void FailoverGaps::trouble(std::size_t index, live::EventLog::Handle event) noexcept {
    PathTrouble& path = paths_[index];
    if (event == live::EventLog::kNoEvent || path.now.event == event) {
        return;
    }
    if (path.now.event != live::EventLog::kNoEvent) { // a new trouble; what is still away belongs to it, too
        if (path.away > 0) {
            tell(path.before, path.gap);
            path.before = path.now;
        } else {
            path.gap.reset();
        }
        path.now.gave_back = path.away;
        path.now.exposed = 0;
    }
    path.now.event = event;
    path.over = false;
    if (path.away == 0) {
        tell(path.now, path.gap);
    }
}

void FailoverGaps::well(std::size_t index) noexcept {
    PathTrouble& path = paths_[index];
    path.over = path.away > 0; // it is told of its event when the last of them has ended
    if (path.over) {
        return;
    }
    path.now = {};
    path.gap.reset();
}

} // namespace mpath::job
