// SPDX-License-Identifier: GPL-2.0-only
// The kernel's search for a path from nothing: __nvme_find_path() in drivers/nvme/host/multipath.c.
#pragma once

#include <cstddef>
#include <cstdint>

#include "multipath/path_view.h"

namespace mpath::multipath {

/// Whether distances count; under every policy but numa the kernel takes all paths as local.
enum class DistanceUse : std::uint8_t { ignore, compare };

/// Position of the nearest optimized path, else of the nearest non-optimized one, else kNoPath. The first in
/// the list wins a tie.
[[nodiscard]] std::size_t search_path(const PathView& view, DistanceUse distances) noexcept;

} // namespace mpath::multipath
