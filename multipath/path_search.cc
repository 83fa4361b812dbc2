// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/path_search.h"

#include <limits>

namespace mpath::multipath {

namespace {

struct Nearest {
    std::size_t position = kNoPath;
    std::uint32_t distance = std::numeric_limits<std::uint32_t>::max();
};

} // namespace

std::size_t search_path(const PathView& view, DistanceUse distances) noexcept {
    Nearest optimized;
    Nearest non_optimized;
    for (std::size_t position = 0; position < view.size(); ++position) {
        const PathRank rank = view.rank(position);
        if (rank == PathRank::unusable) {
            continue;
        }
        const std::uint32_t distance =
            distances == DistanceUse::compare ? view[position].distance : kLocalDistance;
        Nearest& nearest = rank == PathRank::optimized ? optimized : non_optimized;
        if (distance < nearest.distance) {
            nearest = {position, distance};
        }
    }
    return optimized.position != kNoPath ? optimized.position : non_optimized.position;
}

} // namespace mpath::multipath
