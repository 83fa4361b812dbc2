// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "live/fixed_text.h"
#include "record/events.h"

namespace mpath::live {

/// The path events of a job, in shared memory. Any thread of the job may add one; nobody waits. The first
/// kCapacity are kept, the rest are counted: the beginning of a trouble says more about it than its end.
class EventLog {
public:
    static constexpr std::uint32_t kCapacity = 128;

    /// `path` is the index of the path, or record::kNoPath. `text` is clipped to 119 bytes.
    void add(Nanoseconds monotonic, Nanoseconds utc, std::uint16_t path, record::EventKind kind,
             std::string_view text) noexcept;
    /// In the order they were added; one that is being written at this moment is left out.
    [[nodiscard]] std::vector<record::Event> events() const;
    [[nodiscard]] std::uint64_t dropped() const noexcept;

private:
    struct Entry {
        std::uint64_t monotonic;
        std::uint64_t utc;
        std::uint16_t path;
        record::EventKind kind;
        mutable std::uint32_t written; // release: everything else of the entry stands
        FixedText<119> text;
    };

    mutable std::uint64_t claimed_;
    Entry entries_[kCapacity];
};

} // namespace mpath::live
