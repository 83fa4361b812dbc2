// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/round_robin.h"

#include "multipath/path_search.h"

namespace mpath::multipath {

namespace {

/// The first optimized path after `current`, wrapping, which ends the scan; else the last non-optimized one
/// before `current` comes round again; else kNoPath. `current` itself is not looked at.
std::size_t next_path(const PathView& view, std::size_t current) noexcept {
    std::size_t found = kNoPath;
    for (std::size_t step = 1; step < view.size(); ++step) {
        const std::size_t ahead = current + step;
        const std::size_t position = ahead < view.size() ? ahead : ahead - view.size();
        switch (view.rank(position)) {
        case PathRank::optimized:
            return position;
        case PathRank::non_optimized:
            found = position;
            break;
        case PathRank::unusable:
            break;
        }
    }
    return found;
}

} // namespace

std::size_t RoundRobin::select(const PathView& view, Operation /*operation*/) noexcept {
    if (current_ >= view.size()) {
        return current_ = search_path(view, DistanceUse::ignore);
    }
    const std::size_t found = next_path(view, current_);
    if (found != kNoPath && view.rank(found) == PathRank::optimized) {
        return current_ = found;
    }
    // No other optimized path: stay, rather than leave an optimized path or the only usable one.
    const PathRank current_rank = view.rank(current_);
    if (current_rank == PathRank::optimized ||
        (found == kNoPath && current_rank == PathRank::non_optimized)) {
        return current_;
    }
    if (found != kNoPath) {
        current_ = found; // when nothing is usable, the pointer stays where it was
    }
    return found;
}

void RoundRobin::path_failed(std::size_t position) noexcept {
    if (current_ == position) {
        current_ = kNoPath;
    }
}

} // namespace mpath::multipath
