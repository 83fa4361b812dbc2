// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/preferred.h"

namespace mpath::multipath {

std::size_t Preferred::select(const PathView& view, Operation /*operation*/) noexcept {
    if (position_ < view.size() && view.rank(position_) != PathRank::unusable) {
        return position_;
    }
    std::size_t best = kNoPath;
    PathRank best_rank = PathRank::unusable;
    unsigned least = 0;
    for (std::size_t position = 0; position < view.size(); ++position) {
        const PathRank rank = view.rank(position);
        if (rank == PathRank::unusable) {
            continue;
        }
        const unsigned index = view[position].index;
        if (index == index_) {
            return position_ = position;
        }
        const unsigned behind = index > index_ ? index - index_ : index + paths_ - index_;
        if (rank > best_rank || (rank == best_rank && behind < least)) {
            best = position;
            best_rank = rank;
            least = behind;
        }
    }
    return best;
}

} // namespace mpath::multipath
