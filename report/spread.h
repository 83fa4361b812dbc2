// SPDX-License-Identifier: GPL-2.0-only
// How far repeats of the same run lie apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/report.h"

namespace mpath::run {

/// Smallest, middle and largest value over the repeats of IOPS, bandwidth, mean and 99th percentile of the
/// response time, for each block, path and operation. What a repeat did not measure is no value; of an even
/// number of values, the middle is halfway between the inner two.
[[nodiscard]] std::string render_spread(std::span<const std::vector<Block>> repeats);

} // namespace mpath::run
