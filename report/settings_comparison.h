// SPDX-License-Identifier: GPL-2.0-only
// The settings of a steered block compared, over all repeats of its run.
#pragma once

#include <string>
#include <vector>

#include "report/block.h"
#include "report/comparison.h"

namespace mpath::report {

/// Each setting beside the reference: `against`, or the first of the schedule. Units are paired within a
/// repeat; those of all repeats make one estimate. Empty where nothing was steered by a schedule, or where
/// `against` names no setting of it. Of a sum nothing: its blocks may have had other schedules.
[[nodiscard]] std::vector<Comparison> compare_settings(const Block& block, const std::string& against = {});

} // namespace mpath::report
