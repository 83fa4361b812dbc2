// SPDX-License-Identifier: GPL-2.0-only
// One job's part of the control block, as it lies in shared memory. Offsets instead of pointers: every
// process maps it where it likes. Zero bytes everywhere are a job that has not begun.
//
//   JobSlot | PathSlot[path_count] | OperationSet[setting_count * path_count]
//
// Only the operations of the settings known at the start are real memory. Whoever names a further setting
// allocates its part first (ControlBlock and live/running_block.h), so that the job never touches a page that
// /dev/shm has no room for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "live/event_log.h"
#include "live/fixed_text.h"
#include "live/mailbox.h"
#include "live/visit_log.h"
#include "path/path_subset.h"
#include "path/state.h"
#include "record/counters.h"

namespace mpath::live {

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

/// What steering can choose: an iopolicy, and the paths it may pick from. Written once, before
/// JobSlot::settings_named counts it, by fio's parent in add_job() or by whoever holds the block's lock.
struct SettingSlot {
    FixedText<124> name;   ///< "queue-depth", "path:a", "round-robin/path:a+b"
    FixedText<124> policy; ///< as iopolicy= takes it
    record::Word paths;    ///< PathSubset

    // The job's I/O thread alone:
    FixedText<60> rules;              ///< whose semantics the policy has; set at the first visit
    record::Counter steady_time;      ///< nanoseconds of ended visits after they had settled
    record::Counter visits;           ///< that began
    record::Counter disturbed_visits; ///< of these, those with a path event
};

/// Settings a job can keep apart, the transition included. Few are used: the others cost no memory.
inline constexpr std::uint32_t kMaxSettings = 48;
/// The setting a job starts in.
inline constexpr std::uint32_t kFirstSetting = 0;
/// Not a setting: what is kept apart around a switch.
inline constexpr std::uint32_t kTransitionSetting = 1;

/// Where a job stands, as others see it.
enum class JobPhase : std::uint8_t {
    prepared, ///< set up in fio's parent; it has not begun
    running,
    ended,
};

struct JobSlot {
    std::uint64_t bytes; ///< of the slot and what belongs to it: distance to the next one
    std::uint32_t thread_number;
    std::uint32_t group_id;
    std::uint32_t group_reporting; ///< 0 or 1
    std::uint32_t path_count;
    std::uint32_t setting_count; ///< room for so many, the transition included; at most kMaxSettings
    std::uint32_t paths_offset;  ///< from the start of the slot, as below
    std::uint32_t operations_offset;
    std::uint32_t start_set; ///< jobs with the same number start together: a stonewall begins the next
    FixedText<124> name;
    FixedText<124> iopolicy; ///< the option; the policy in force is that of the current visit's setting

    record::Word phase;     ///< JobPhase
    record::Word pid;       ///< process that runs it, once it has begun
    record::Word pid_start; ///< as ProcessId::start
    Mailbox mailbox;

    record::Word settings_named;  ///< of `settings`, how many stand, the transition included; release
    record::Word transition_kept; ///< 1: the operations of the transition are memory
    SettingSlot settings[kMaxSettings];
    record::Word setting_in_force; ///< index; as the I/O thread went to it last
    VisitLog visits;

    // The schedule's clock, of the jobs that start together; in the slot of the first of them.
    record::Word clock_began;  ///< CLOCK_MONOTONIC; 0: not yet
    record::Word steered;      ///< 1 with steer=
    record::Word shuffle_seed; ///< of steer_order=shuffle; likewise the first one's counts
    record::Word start_delay;  ///< nanoseconds of start_delay=: who comes later is not waited for

    record::JobCounters counters;
    EventLog events;

    [[nodiscard]] PathSlot& path(std::size_t index) noexcept {
        return *reinterpret_cast<PathSlot*>(at(paths_offset + index * sizeof(PathSlot)));
    }
    [[nodiscard]] const PathSlot& path(std::size_t index) const noexcept {
        return const_cast<JobSlot*>(this)->path(index);
    }
    /// Only of settings that are named, and of the transition only once it is kept.
    [[nodiscard]] record::OperationSet& operations(std::size_t path_index, std::size_t setting) noexcept {
        return *reinterpret_cast<record::OperationSet*>(
            at(operations_offset + (setting * path_count + path_index) * sizeof(record::OperationSet)));
    }
    [[nodiscard]] const record::OperationSet& operations(std::size_t path_index,
                                                         std::size_t setting) const noexcept {
        return const_cast<JobSlot*>(this)->operations(path_index, setting);
    }

    /// Whether the operations of a named setting are memory.
    [[nodiscard]] bool keeps(std::uint64_t setting) const noexcept {
        return setting != kTransitionSetting || transition_kept.get() != 0;
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
    struct SettingName {
        std::string name;
        std::string policy;
        PathSubset paths = kAllPaths;
    };
    /// Those of the schedule, the first one first; empty: the iopolicy on all paths is the only one.
    std::vector<SettingName> settings{};
    std::uint32_t start_set = 0;
    bool steered = false;
    std::uint64_t start_delay = 0; ///< nanoseconds
    std::uint64_t shuffle_seed = 0;
};

} // namespace mpath::live
