// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/queue_depth.h"

#include <cstdint>
#include <limits>

namespace mpath::multipath {

namespace {

struct LeastLoaded {
    std::size_t position = kNoPath;
    std::uint32_t depth = std::numeric_limits<std::uint32_t>::max();
};

} // namespace

std::size_t QueueDepth::select(const PathView& view, Operation /*operation*/) noexcept {
    LeastLoaded optimized;
    LeastLoaded non_optimized;
    for (std::size_t position = 0; position < view.size(); ++position) {
        const PathRank rank = view.rank(position);
        if (rank == PathRank::unusable) {
            continue;
        }
        const std::uint32_t depth = view[position].path->outstanding();
        LeastLoaded& least = rank == PathRank::optimized ? optimized : non_optimized;
        if (depth < least.depth) {
            least = {position, depth};
        }
        if (optimized.depth == 0) {
            break; // none can be less loaded
        }
    }
    return optimized.position != kNoPath ? optimized.position : non_optimized.position;
}

} // namespace mpath::multipath
