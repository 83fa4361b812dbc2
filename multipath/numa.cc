// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/numa.h"

#include "multipath/path_search.h"

namespace mpath::multipath {

std::size_t Numa::select(const PathView& view, Operation /*operation*/) noexcept {
    if (current_ < view.size() && view.rank(current_) == PathRank::optimized) {
        return current_;
    }
    return current_ = search_path(view, DistanceUse::compare);
}

void Numa::path_failed(std::size_t position) noexcept {
    if (current_ == position) {
        current_ = kNoPath;
    }
}

} // namespace mpath::multipath
