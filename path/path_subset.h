// SPDX-License-Identifier: GPL-2.0-only
// Some of a job's paths, and how people name one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mpath {

/// Some of a job's paths: a bit for each of the first kSubsetPaths, in the job's order. kAllPaths means every
/// path, those beyond as well; any other subset has none of those.
using PathSubset = std::uint64_t;

inline constexpr std::size_t kSubsetPaths = 64; ///< as many as a word has bits
inline constexpr PathSubset kAllPaths = ~PathSubset{0};

[[nodiscard]] constexpr bool contains(PathSubset subset, std::size_t path) noexcept {
    return subset == kAllPaths || (path < kSubsetPaths && (subset >> path & 1) != 0);
}

/// The bits that mean a path of a job with `paths` paths; kAllPaths when none is missing, so that equal
/// subsets are equal words.
[[nodiscard]] constexpr PathSubset known_paths(PathSubset subset, std::size_t paths) noexcept {
    const PathSubset all = paths >= kSubsetPaths ? kAllPaths : (PathSubset{1} << paths) - 1;
    return (subset & all) == all ? kAllPaths : subset & all;
}

/// The place in `names` that `word` is (from 0) or names.
[[nodiscard]] std::optional<std::size_t> find_path(std::string_view word, std::span<const std::string> names);

} // namespace mpath
