// SPDX-License-Identifier: GPL-2.0-only
// What a job measured, as values: copied from the counters, merged, printed and written to the record.
// Times are nanoseconds; what nobody measured is an empty optional.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "path/request.h"
#include "path/state.h"
#include "record/counters.h"
#include "record/events.h"
#include "record/histogram.h"
#include "record/moments.h"
#include "record/visit.h"

namespace mpath::record {

using Maybe = std::optional<std::uint64_t>;

/// The names that people and scripts see; fio calls a flush sync.
inline constexpr std::array<std::string_view, kOperations> kOperationNames{"read", "write", "trim", "sync"};

inline constexpr std::array kPathStates{PathState::optimized, PathState::non_optimized,
                                        PathState::inaccessible, PathState::persistent_loss,
                                        PathState::change};

struct OperationResult {
    Moments moments;
    Histogram histogram;

    [[nodiscard]] std::uint64_t count() const { return moments.count; }
    /// Within 1 %, and never beyond the smallest and largest time seen; empty without samples.
    [[nodiscard]] Maybe percentile(double percent) const;
    void merge(const OperationResult& other);
    bool operator==(const OperationResult&) const = default;
};

struct OperationResults {
    std::array<OperationResult, kOperations> operations;

    [[nodiscard]] OperationResult& of(Operation operation) {
        return operations[static_cast<std::size_t>(operation)];
    }
    [[nodiscard]] const OperationResult& of(Operation operation) const {
        return operations[static_cast<std::size_t>(operation)];
    }
    void merge(const OperationResults& other);
    bool operator==(const OperationResults&) const = default;
};

/// What was counted in one setting, which is what steering can choose: policy and path subset. The transition
/// (kTransition) is listed like one.
struct SettingResult {
    std::string name;
    OperationResults operations;

    bool operator==(const SettingResult&) const = default;
};

struct DepthResult {
    std::uint64_t area = 0; ///< nanoseconds * I/Os; divided by the measured time it is the mean
    Maybe max;              ///< of one job; nobody knows it for several together

    bool operator==(const DepthResult&) const = default;
};

/// I/Os held back because all queues of the path were full.
struct WaitResult {
    std::uint64_t count = 0;
    std::uint64_t total = 0;
    std::uint64_t max = 0;

    bool operator==(const WaitResult&) const = default;
};

/// Times that belong to no bytes.
struct DelayResult : OperationResult {
    bool operator==(const DelayResult&) const = default;
};

/// I/Os that no path could take.
struct HoldResult {
    std::uint64_t count = 0; ///< had to wait
    std::uint64_t total = 0; ///< how long, together
    std::uint64_t max = 0;
    std::uint64_t failed = 0; ///< failed because no path was usable, after waiting or at once

    void merge(const HoldResult& other);
    bool operator==(const HoldResult&) const = default;
};

struct TrafficResult {
    Maybe commands;
    Maybe pdus_sent;
    Maybe pdus_received;
    Maybe wire_bytes_sent;
    Maybe wire_bytes_received;
    Maybe payload_direct;
    Maybe payload_copied;
    Maybe protocol_violations;
    Maybe header_digest_errors;
    Maybe data_digest_errors;

    void merge(const TrafficResult& other);
    bool operator==(const TrafficResult&) const = default;
};

struct PathResult {
    std::string name;
    std::optional<PathState> state; ///< last heard of; empty when several jobs differ
    std::vector<SettingResult> settings;
    DepthResult depth;
    WaitResult waits;
    std::uint64_t requeues = 0;
    std::optional<DelayResult> requeue_delay; ///< of each: failed here to dispatched again
    Maybe retries;
    Maybe exposed_writes;
    std::array<std::uint64_t, kErrorClasses> errors{}; ///< by ErrorClass
    TrafficResult traffic;
    Maybe sampled_reads;
    Maybe all_zero_reads;

    [[nodiscard]] std::uint64_t error_count() const;
    /// Over all settings.
    [[nodiscard]] OperationResults operations() const;
    bool operator==(const PathResult&) const = default;
};

struct CpuResult {
    Maybe user;
    Maybe system;
    Maybe voluntary_switches;
    Maybe involuntary_switches;
    Maybe system_calls;

    void merge(const CpuResult& other);
    bool operator==(const CpuResult&) const = default;
};

/// Bytes this run wrote to the device, ramp included.
struct WrittenResult {
    std::uint64_t total = 0;
    std::uint64_t sequential = 0;   ///< continuing the job's write before it
    std::uint64_t small_random = 0; ///< neither that, nor 64 KiB long

    bool operator==(const WrittenResult&) const = default;
};

/// How long a job was in a setting, so that what was counted there becomes a rate.
struct SettingTime {
    std::string name;
    Nanoseconds steady_time = 0; ///< of its visits after they had settled; of several jobs, added up
    std::uint32_t jobs = 0;      ///< of those side by side, how many had steady time in it
    std::uint64_t visits = 0;
    std::uint64_t disturbed_visits = 0; ///< of these, those with a path event
    std::optional<std::string> rules{}; ///< whose semantics its policy has; empty: never visited

    /// What a rate over all jobs is to be divided by.
    [[nodiscard]] double seconds() const;
    bool operator==(const SettingTime&) const = default;
};

/// One job, or the jobs that fio reports as one.
struct JobResult {
    std::string name;
    std::uint32_t thread_number = 0; ///< fio's; of the first job
    std::uint32_t group_id = 0;
    std::uint32_t jobs = 1; ///< how many were merged
    std::string iopolicy;
    Nanoseconds measured_from = 0;  ///< CLOCK_MONOTONIC, end of the ramp; 0: nothing was measured
    Nanoseconds measured_until = 0; ///< CLOCK_MONOTONIC
    bool ended = false;             ///< false: still running, or killed
    CpuResult cpu;
    std::optional<HoldResult> held;
    WrittenResult written;
    OperationResults response;         ///< from the first queue() to the final completion: fio's lat
    std::vector<SettingTime> settings; ///< without the transition; empty: a record from before version 3
    std::optional<DelayResult> switch_delay; ///< of each switch: asked for to first I/O in the new setting
    std::vector<PathResult> paths;
    std::vector<Event> events;
    std::uint64_t events_dropped = 0;

    [[nodiscard]] Nanoseconds measured() const { return measured_until - measured_from; }
    /// `settings`; of an older record, in which each job had one setting throughout, made from that.
    [[nodiscard]] std::vector<SettingTime> setting_times() const;
    /// Whether a table has to tell settings apart.
    [[nodiscard]] bool has_several_settings() const;
    bool operator==(const JobResult&) const = default;
};

/// Empty unless both are known: half a sum is no sum.
Maybe sum(Maybe a, Maybe b);

} // namespace mpath::record
