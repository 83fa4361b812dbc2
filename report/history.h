// SPDX-License-Identifier: GPL-2.0-only
// What was written to a device before it was measured, as far as the records of a report tell.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/block.h"

namespace mpath::report {

/// Bytes, by the records that were given: nobody else's writes are known.
struct History {
    struct Fill {
        std::string job;
        Nanoseconds ended_utc = 0;
    };

    std::optional<Fill> fill;     ///< the latest that wrote all of the device, in order
    std::uint64_t written = 0;    ///< since the fill; without one, in all
    std::uint64_t sequential = 0; ///< of these
    std::uint64_t small_random = 0;
    bool told = false; ///< false: no record before this one is of this device
};

/// `blocks` are those of all runs, before repeats were merged; `block` may be one of them.
[[nodiscard]] History history_of(const Block& block, std::span<const Block> blocks);

/// "since the fill by fill 2 h before: 3.2GB written, 1.1GB of it small random"; for blocks that read.
[[nodiscard]] std::string history_line(const Block& block, const History& history);

} // namespace mpath::report
