// SPDX-License-Identifier: GPL-2.0-only
// What a listener's controllers can be told to do wrong, and how that is said. The deeds are in misbehave.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mpath::target {

enum class Misdeed : std::uint8_t {
    none,
    r2t_empty,
    r2t_beyond,
    r2t_overlap,
    r2t_too_many,
    early_error,
    data_beyond,
    data_out_of_order,
    data_empty,
    success_not_last,
    short_success,
    plen_huge,
    pdo_unaligned,
    unknown_cid,
    stale_cid,
    unknown_type,
    term_req,
    plen_0,
    hlen,
};

/// One misdeed on each I/O connection.
struct Break {
    Misdeed what = Misdeed::none;
    std::uint32_t at = 1; ///< on the how manyth command that it can be done to
};

/// "WHAT[:N]"
Result<Break> parse_break(std::string_view text);

/// A line for each misdeed: its name and what it does.
std::string describe_misdeeds();

} // namespace mpath::target
