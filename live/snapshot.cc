// SPDX-License-Identifier: GPL-2.0-only
#include "live/snapshot.h"

#include <algorithm>

namespace mpath::live {

namespace {

std::optional<std::string> text_if_set(std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<PathState> state_of(const PathSlot& slot) {
    const auto stored = slot.state.get();
    return stored ? std::optional(static_cast<PathState>(*stored)) : std::nullopt;
}

record::OperationResults copy(const record::OperationSet& counters) {
    record::OperationResults results;
    for (std::size_t index = 0; index < kOperations; ++index) {
        results.operations[index] = {counters.operations[index].moments.snapshot(),
                                     record::Histogram(counters.operations[index].histogram)};
    }
    return results;
}

record::DelayResult copy(const record::DelayCounters& counters) {
    return {{counters.moments.snapshot(), record::Histogram(counters.histogram)}};
}

record::TrafficResult copy(const record::TrafficCounters& counters) {
    return {counters.commands.get(),
            counters.pdus_sent.get(),
            counters.pdus_received.get(),
            counters.wire_bytes_sent.get(),
            counters.wire_bytes_received.get(),
            counters.payload_direct.get(),
            counters.payload_copied.get(),
            counters.protocol_violations.get(),
            counters.header_digest_errors.get(),
            counters.data_digest_errors.get()};
}

record::PathConditions legend(const PathSlot& slot) {
    record::PathConditions path;
    path.name = slot.name.get();
    path.address = slot.address.get();
    path.device = text_if_set(slot.device.get());
    path.model = text_if_set(slot.model.get());
    path.serial = text_if_set(slot.serial.get());
    path.firmware = text_if_set(slot.firmware.get());
    path.group = slot.group.get();
    return path;
}

record::PathResult copy_path(const JobSlot& job, std::size_t index, const std::vector<std::string>& names,
                             Nanoseconds until) {
    const PathSlot& slot = job.path(index);
    const record::PathCounters& counters = slot.counters;
    record::PathResult path;
    path.name = slot.name.get();
    path.state = state_of(slot);
    for (std::size_t setting = 0; setting < names.size(); ++setting) {
        if (setting != kTransitionSetting) {
            path.settings.push_back({names[setting], copy(job.operations(index, setting))});
        }
    }
    if (names.size() > kTransitionSetting && job.keeps(kTransitionSetting)) {
        path.settings.push_back({names[kTransitionSetting], copy(job.operations(index, kTransitionSetting))});
    }
    if (until != 0) {
        path.depth = {counters.depth.area_until(until), counters.depth.max.get()};
    }
    path.waits = {counters.waits.get(), counters.wait_time.get(), counters.wait_max.get()};
    path.requeues = counters.requeues.get();
    path.requeue_delay = copy(counters.requeue_delay);
    path.retries = counters.retries.get();
    path.exposed_writes = counters.exposed_writes.get();
    for (std::size_t error = 0; error < record::kErrorClasses; ++error) {
        path.errors[error] = counters.errors[error].get();
    }
    path.traffic = copy(counters.traffic);
    path.sampled_reads = counters.sampled_reads.get();
    path.all_zero_reads = counters.all_zero_reads.get();
    return path;
}

/// The slot has the steady time of ended visits; of the current one, that until `until` is added.
std::vector<record::SettingTime> copy_times(const JobSlot& job, const std::vector<std::string>& names,
                                            Nanoseconds until) {
    const std::vector<record::Visit> latest = job.visits.visits(job.visits.last(), names);
    std::vector<record::SettingTime> times;
    for (std::size_t setting = 0; setting < names.size(); ++setting) {
        if (setting == kTransitionSetting) {
            continue;
        }
        const SettingSlot& slot = job.settings[setting];
        record::SettingTime& time = times.emplace_back();
        time.name = names[setting];
        time.visits = slot.visits.get();
        time.disturbed_visits = slot.disturbed_visits.get();
        time.rules = text_if_set(slot.rules.get());
        time.steady_time = slot.steady_time.get();
        if (!latest.empty() && latest.front().setting == time.name && latest.front().settled &&
            !latest.front().ended) {
            time.steady_time += until - std::min(until, *latest.front().settled);
        }
        time.jobs = time.steady_time != 0 ? 1 : 0;
    }
    return times;
}

Nanoseconds last_activity(const JobSlot& job) {
    Nanoseconds last = job.counters.measuring_since.get();
    for (std::size_t index = 0; index < job.path_count; ++index) {
        last = std::max(last, job.path(index).counters.depth.changed_at.get());
    }
    return last;
}

} // namespace

std::vector<std::string> path_names(const JobSlot& job) {
    std::vector<std::string> names;
    for (std::size_t index = 0; index < job.path_count; ++index) {
        names.push_back(job.path(index).name.get());
    }
    return names;
}

std::vector<std::string> setting_names(const JobSlot& job) {
    std::vector<std::string> names;
    const std::uint64_t named = job.settings_named.get_acquire();
    for (std::size_t setting = 0; setting < named; ++setting) {
        names.push_back(job.settings[setting].name.get());
    }
    return names;
}

record::JobReport snapshot(const JobSlot& job, Nanoseconds now) {
    const record::JobCounters& counters = job.counters;
    record::JobReport report;
    record::JobResult& result = report.result;
    result.name = job.name.get();
    result.thread_number = job.thread_number;
    result.group_id = job.group_id;
    result.iopolicy = job.iopolicy.get();
    result.measured_from = counters.measuring_since.get();
    result.ended = counters.ended_at.get() != 0;
    if (result.measured_from != 0) {
        const Nanoseconds running_until = now == kLastActivity ? last_activity(job) : now;
        result.measured_until =
            std::max(result.measured_from, result.ended ? counters.ended_at.get() : running_until);
    }
    result.cpu = {counters.cpu_user.get(), counters.cpu_system.get(), counters.voluntary_switches.get(),
                  counters.involuntary_switches.get(), counters.system_calls.get()};
    result.held = {counters.held.count.get(), counters.held.total.get(), counters.held.max.get(),
                   counters.held.failed.get()};
    result.written = {counters.written.get(), counters.written_sequential.get(),
                      counters.written_small_random.get()};
    const auto response = job.visits.totals();
    for (std::size_t operation = 0; operation < kOperations; ++operation) {
        result.response.operations[operation] = {response[operation],
                                                 record::Histogram(counters.response[operation])};
    }
    const std::vector<std::string> names = setting_names(job);
    result.settings = copy_times(job, names, result.measured_until);
    result.switch_delay = copy(counters.switch_delay);
    for (std::size_t index = 0; index < job.path_count; ++index) {
        result.paths.push_back(copy_path(job, index, names, result.measured_until));
        report.conditions.push_back(legend(job.path(index)));
    }
    result.events = job.events.events();
    result.events_dropped = job.events.dropped();
    return report;
}

} // namespace mpath::live
