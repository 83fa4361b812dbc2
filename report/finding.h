// SPDX-License-Identifier: GPL-2.0-only
// What a reader of the numbers has to know to doubt them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/block.h"
#include "report/client.h"

namespace mpath::report {

enum class Weight : std::uint8_t {
    note,    ///< how a number is to be read
    warning, ///< it may not be what it looks like
    error,   ///< there is no such number
};

std::string_view to_string(Weight weight);

struct Finding {
    Weight weight = Weight::note;
    std::string text; ///< a sentence without a full stop

    bool operator==(const Finding&) const = default;
};

/// More of a path's sampled reads than this (0 .. 1) being all zero is warned about.
inline constexpr double kManyZeroes = 0.01;
/// Jobs whose mean of I/Os outstanding is this part of their depth keep their queues full.
inline constexpr double kFullQueue = 0.95;

/// Errors first. Of a sum nothing: its blocks have told.
[[nodiscard]] std::vector<Finding> findings_of(const Block& block, const Client& client);

/// "warning: …", a line each, wrapped at the width of the tables.
[[nodiscard]] std::string finding_lines(const std::vector<Finding>& findings);

} // namespace mpath::report
