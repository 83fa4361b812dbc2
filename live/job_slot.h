// SPDX-License-Identifier: GPL-2.0-only
// One job's part of the control block, as it lies in shared memory. Offsets instead of pointers: every
// process maps it where it likes. Zero bytes everywhere are a job that has not begun.
//
//   JobSlot | PathSlot[path_count] | OperationSet[path_count * setting_count]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "live/event_log.h"
#include "live/fixed_text.h"
#include "path/state.h"
#include "record/counters.h"

namespace mpath::live {

/// How requests reach a running job. A writer lays its request down, then raises `requested` by one
/// (release). The job's I/O thread compares it (acquire) with `acknowledged` once per engine call, which is
/// one load as long as nothing is asked; it carries the request out and stores the same number into
/// `acknowledged` (release). A writer waits until both are equal before it lays down another.
struct Mailbox {
    record::Word requested;
    record::Word acknowledged;
};

/// One path: what the legend of a table says, and its counters.
struct PathSlot {
    FixedText<60> name;     ///< set by add_job()
    FixedText<252> address; ///< set by add_job(): the URI's address part
    FixedText<124> device;  ///< DeviceIdentity::text(); set when connected, like the rest
    FixedText<60> model;
    FixedText<60> serial;
    FixedText<28> firmware;
    record::OptionalCounter state; ///< PathState of its group as the I/O thread last heard it
    record::OptionalCounter group; ///< number of its path group
    record::PathCounters counters;

    void set_state(PathState value) noexcept { state.set(static_cast<std::uint64_t>(value)); }
};

struct JobSlot {
    std::uint64_t bytes; ///< of the slot and what belongs to it: distance to the next one
    std::uint32_t thread_number;
    std::uint32_t group_id;
    std::uint32_t group_reporting; ///< 0 or 1
    std::uint32_t path_count;
    std::uint32_t setting_count;
    std::uint32_t paths_offset; ///< from the start of the slot, as below
    std::uint32_t operations_offset;
    FixedText<124> name;
    FixedText<60> iopolicy;
    Mailbox mailbox;
    record::JobCounters counters;
    EventLog events;

    [[nodiscard]] PathSlot& path(std::size_t index) noexcept {
        return *reinterpret_cast<PathSlot*>(at(paths_offset + index * sizeof(PathSlot)));
    }
    [[nodiscard]] const PathSlot& path(std::size_t index) const noexcept {
        return const_cast<JobSlot*>(this)->path(index);
    }
    [[nodiscard]] record::OperationSet& operations(std::size_t path_index, std::size_t setting) noexcept {
        return *reinterpret_cast<record::OperationSet*>(
            at(operations_offset + (path_index * setting_count + setting) * sizeof(record::OperationSet)));
    }
    [[nodiscard]] const record::OperationSet& operations(std::size_t path_index,
                                                         std::size_t setting) const noexcept {
        return const_cast<JobSlot*>(this)->operations(path_index, setting);
    }

    /// The ramp is over, or there was none: what is told in the end begins now. On the I/O thread.
    void begin_measuring(Nanoseconds now) noexcept {
        counters.measuring_since.set(now);
        for (std::size_t index = 0; index < path_count; ++index) {
            path(index).counters.depth.begin(now);
        }
    }

private:
    [[nodiscard]] std::byte* at(std::size_t offset) noexcept {
        return reinterpret_cast<std::byte*>(this) + offset;
    }
};

/// What is known of a job in setup().
struct JobDescription {
    struct PathName {
        std::string name;
        std::string address;
    };
    std::uint32_t thread_number = 0; ///< fio's, from 1
    std::uint32_t group_id = 0;
    bool group_reporting = false;
    std::string name;
    std::string iopolicy;
    std::vector<PathName> paths;
    std::uint32_t setting_count = 1;
};

} // namespace mpath::live
