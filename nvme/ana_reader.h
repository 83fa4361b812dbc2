// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/task.h"
#include "nvme/admin_queue.h"
#include "nvme/ana_log.h"

namespace mpath::nvme {

/// Reads the ANA log whole, in pieces where it must be.
class AnaReader {
public:
    /// `piece`: bytes one command may transfer, a multiple of 4. `expected`: bytes of the longest log by
    /// Identify Controller; a log may turn out longer.
    AnaReader(AdminQueue& admin, const AnaLimits& limits, std::size_t piece, std::size_t expected);

    /// The log at one moment: pieces are read again when the log changed between them. The last command
    /// lets the next ANA change event come. EPROTO for a log that breaks a rule, EAGAIN for one that never
    /// stands still, anything else when the association is gone.
    net::Task<Result<AnaLog>> read(Nanoseconds deadline);

private:
    enum class Event : std::uint8_t { keep, clear };
    net::Task<Result<AnaLog>> read_pieces(Nanoseconds deadline);
    net::Task<Result<void>> get(std::size_t offset, std::size_t length, Event event, Nanoseconds deadline);

    AdminQueue& admin_;
    AnaLimits limits_;
    std::size_t piece_;
    std::size_t first_;
    std::vector<std::byte> buffer_;
};

} // namespace mpath::nvme
