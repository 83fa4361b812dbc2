// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/service_time.h"

#include <algorithm>

namespace mpath::multipath {

std::size_t ServiceTime::select(const PathView& view, Operation /*operation*/) noexcept {
    std::size_t best = kNoPath;
    PathRank best_rank = PathRank::unusable;
    std::uint64_t least = 0;
    for (std::size_t position = 0; position < view.size(); ++position) {
        const PathRank rank = view.rank(position);
        if (rank == PathRank::unusable || rank < best_rank) {
            continue;
        }
        const std::uint64_t bytes = view[position].path->outstanding_bytes();
        if (rank > best_rank || bytes < least ||
            (bytes == least && last_turn_[position] < last_turn_[best])) {
            best = position;
            best_rank = rank;
            least = bytes;
        }
    }
    if (best != kNoPath) {
        last_turn_[best] = ++turn_;
    }
    return best;
}

void ServiceTime::path_changed() noexcept {
    std::fill(last_turn_.begin(), last_turn_.end(), 0);
}

} // namespace mpath::multipath
