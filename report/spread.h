// SPDX-License-Identifier: GPL-2.0-only
// How far repeats of the same run lie apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/block.h"

namespace mpath::report {

/// Smallest, middle and largest value over the repeats of IOPS, bandwidth, mean and 99th percentile of the
/// response time, for each path and operation of a merged block; `all` are the blocks of all runs. What a
/// repeat did not measure is no value; of an even number of values, the middle is halfway between the inner
/// two. Nothing with one repeat.
[[nodiscard]] std::string render_spread(const Block& merged, std::span<const std::vector<Block>> all);

} // namespace mpath::report
