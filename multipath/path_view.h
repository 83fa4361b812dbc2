// SPDX-License-Identifier: GPL-2.0-only
// What an iopolicy sees of a job's paths: the kernel's notions of a usable path, and nothing of a protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "path/path.h"

namespace mpath::multipath {

/// The kernel's LOCAL_DISTANCE: what node_distance() says of a node and itself, and what stands for every
/// path whose node is not known, as that of a path over TCP.
inline constexpr std::uint32_t kLocalDistance = 10;

/// "No path", where the position of one is returned.
inline constexpr std::size_t kNoPath = std::numeric_limits<std::size_t>::max();

/// One path the job may use. The path belongs to someone else and outlives it.
struct Candidate {
    Path* path = nullptr;
    std::uint16_t index = 0;                 ///< in the path set
    std::uint32_t distance = kLocalDistance; ///< from the job's NUMA node to the path's, as node_distance()
};

/// Which states the job takes paths in: `path=optimized` and `path=non-optimized` follow the state as it
/// changes.
enum class StateFilter : std::uint8_t { any, optimized, non_optimized };

/// What a policy needs to know of a path's state, in ascending order of preference.
enum class PathRank : std::uint8_t { unusable, non_optimized, optimized };

/// The candidates in the order of `paths=`, which stands for the kernel's list of siblings.
struct PathView {
    std::span<const Candidate> candidates;
    StateFilter filter = StateFilter::any;

    [[nodiscard]] std::size_t size() const noexcept { return candidates.size(); }
    [[nodiscard]] const Candidate& operator[](std::size_t position) const noexcept {
        return candidates[position];
    }

    /// The kernel's nvme_path_is_disabled() and the two states its selectors accept, in one answer.
    [[nodiscard]] PathRank rank(std::size_t position) const noexcept {
        const Path& path = *candidates[position].path;
        if (!path.live()) {
            return PathRank::unusable;
        }
        switch (path.state()) {
        case PathState::optimized:
            return filter == StateFilter::non_optimized ? PathRank::unusable : PathRank::optimized;
        case PathState::non_optimized:
            return filter == StateFilter::optimized ? PathRank::unusable : PathRank::non_optimized;
        default:
            return PathRank::unusable;
        }
    }
};

} // namespace mpath::multipath
