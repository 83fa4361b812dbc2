// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "path/request.h"
#include "record/counter.h"
#include "record/moments.h"
#include "record/visit.h"

namespace mpath::live {

/// The job's response times in one part of a visit, by operation.
struct VisitPart {
    record::MomentCounters operations[kOperations];

    void add(Operation operation, std::uint64_t time, std::uint64_t size) noexcept {
        operations[static_cast<std::size_t>(operation)].add(time, size);
    }
};

/// One visit: a stretch of the job in one setting. Times are CLOCK_MONOTONIC; 0: not yet.
struct VisitSlot {
    record::Word number;          ///< from 1; 0: this slot is free. Written last when the visit begins
    record::Word setting;         ///< index of the job's setting
    record::Word cause;           ///< record::VisitCause
    record::OptionalCounter unit; ///< of the schedule's complete units it belongs to, from 0
    record::Word asked;           ///< when the schedule or the command wanted it
    record::Word began;           ///< when the I/O thread went to it
    record::Word first_io;        ///< when its first I/O was dispatched
    record::Word settled;         ///< from then on it counts as steady
    record::Word ended;           ///< release: `open` stands
    record::Counter open;         ///< once it has ended: I/Os submitted in it that have not come back
    record::Counter disturbances; ///< path events that the job's I/O noticed
    VisitPart transition;         ///< of I/Os submitted before it had settled
    VisitPart steady;
};

/// What is left of visits that are no longer kept one by one.
struct FoldedVisits {
    record::Counter visits;
    VisitPart transition;
    VisitPart steady;
};

/// A job's latest visits, in shared memory. The I/O thread writes, anybody reads. Older ones are added up, so
/// that memory is bounded however restless the job is and every I/O is still counted exactly once.
class VisitLog {
public:
    static constexpr std::uint32_t kCapacity = 256;

    // ---- the I/O thread

    /// The next visit, all zero but for number; the oldest one is added to what was folded to make room.
    VisitSlot& begin() noexcept;
    /// The visit, if it is still kept.
    [[nodiscard]] VisitSlot* find(std::uint64_t number) noexcept {
        VisitSlot& slot = visits_[number % kCapacity];
        return slot.number.get() == number ? &slot : nullptr;
    }
    /// For I/Os that come back when their visit was folded long ago.
    [[nodiscard]] FoldedVisits& folded() noexcept { return folded_; }
    /// Forgets what was counted, and all visits but the latest, which goes on.
    void forget() noexcept;

    // ---- anybody

    /// The latest; 0: none has begun.
    [[nodiscard]] std::uint64_t last() const noexcept { return last_.get_acquire(); }
    [[nodiscard]] const FoldedVisits& folded() const noexcept { return folded_; }
    /// Those from `number` on that are still kept, in order. `names` are those of the settings by index.
    [[nodiscard]] std::vector<record::Visit> visits(std::uint64_t number,
                                                    const std::vector<std::string>& names) const;
    /// Over all visits and both parts, folded ones included: the job's response times. Exact when the I/O
    /// thread stands still.
    [[nodiscard]] std::array<record::Moments, kOperations> totals() const;

private:
    record::Word last_;
    record::Word folding_; ///< rises before and after a visit is folded: odd while it happens
    FoldedVisits folded_;
    VisitSlot visits_[kCapacity];
};

} // namespace mpath::live
