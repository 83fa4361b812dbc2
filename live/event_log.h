// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "live/fixed_text.h"
#include "record/counter.h"
#include "record/events.h"

namespace mpath::live {

/// The path events of a job, in shared memory. Any thread of the job may add one; nobody waits. The first
/// kCapacity are kept, the rest are counted: the beginning of a trouble says more about it than its end.
class EventLog {
public:
    static constexpr std::uint32_t kCapacity = 512;

    /// Names an event of this log.
    using Handle = std::uint32_t;
    static constexpr Handle kNoEvent = 0xffffffff;

    /// `path` is the index of the path, or record::kNoPath. `text` is clipped to 191 bytes. kNoEvent: there
    /// was no room for it, and it was counted only.
    Handle add(Nanoseconds monotonic, Nanoseconds utc, std::uint16_t path, record::EventKind kind,
               std::string_view text) noexcept;
    /// What an event did to the job's I/O, once that is known: the longest time without a completion (empty:
    /// no I/O was outstanding), how many I/Os were sent again because of it, and how many of these were
    /// writes that may have been executed before (empty: not counted). Any thread of the job, once for each
    /// event; kNoEvent is ignored.
    void set_failover(Handle event, std::optional<Nanoseconds> gap, std::uint64_t requeues,
                      std::optional<std::uint64_t> exposed_writes = std::nullopt) noexcept;
    /// How long after it happened an event was noticed. When the job has ended, by one thread.
    void set_detection(Handle event, Nanoseconds detection) noexcept;
    /// In the order they were added, so that when no thread adds any more, the place of an event is its
    /// handle; one that is being written at this moment is left out.
    [[nodiscard]] std::vector<record::Event> events() const;
    [[nodiscard]] std::uint64_t dropped() const noexcept;

private:
    struct Entry {
        std::uint64_t monotonic;
        std::uint64_t utc;
        std::uint16_t path;
        record::EventKind kind;
        mutable std::uint32_t written; // release: everything above and the text stand
        record::Word failover_known;   // release: the three below stand
        record::OptionalCounter gap;
        record::Counter requeues;
        record::OptionalCounter exposed_writes;
        record::OptionalCounter detection;
        FixedText<191> text;
    };

    mutable std::uint64_t claimed_;
    Entry entries_[kCapacity];
};

} // namespace mpath::live
