// SPDX-License-Identifier: GPL-2.0-only
#include "record/merge.h"

#include <algorithm>

namespace mpath::record {

namespace {

void merge_settings(std::vector<SettingResult>& into, const std::vector<SettingResult>& other) {
    for (const SettingResult& setting : other) {
        const auto same = std::find_if(into.begin(), into.end(),
                                       [&](const SettingResult& one) { return one.name == setting.name; });
        if (same == into.end()) {
            into.push_back(setting);
        } else {
            same->operations.merge(setting.operations);
        }
    }
}

void merge_times(JobResult& into, const JobResult& other) {
    std::vector<SettingTime> times = into.setting_times();
    for (const SettingTime& time : other.setting_times()) {
        const auto same = std::find_if(times.begin(), times.end(),
                                       [&](const SettingTime& one) { return one.name == time.name; });
        if (same == times.end()) {
            times.push_back(time);
        } else {
            same->steady_time += time.steady_time;
            same->jobs += time.jobs;
            same->visits += time.visits;
            same->disturbed_visits += time.disturbed_visits;
        }
    }
    into.settings = std::move(times);
}

/// Empty unless both are known, as sum().
template <typename T>
void merge_known(std::optional<T>& into, const std::optional<T>& other) {
    if (into && other) {
        into->merge(*other);
    } else {
        into.reset();
    }
}

void merge_path(PathResult& into, const PathResult& other) {
    if (into.state != other.state) {
        into.state.reset();
    }
    merge_settings(into.settings, other.settings);
    into.depth.area += other.depth.area;
    into.depth.max.reset();
    into.waits.count += other.waits.count;
    into.waits.total += other.waits.total;
    into.waits.max = std::max(into.waits.max, other.waits.max);
    into.requeues += other.requeues;
    merge_known(into.requeue_delay, other.requeue_delay);
    into.retries = sum(into.retries, other.retries);
    into.exposed_writes = sum(into.exposed_writes, other.exposed_writes);
    for (std::size_t index = 0; index < kErrorClasses; ++index) {
        into.errors[index] += other.errors[index];
    }
    into.traffic.merge(other.traffic);
    into.sampled_reads = sum(into.sampled_reads, other.sampled_reads);
    into.all_zero_reads = sum(into.all_zero_reads, other.all_zero_reads);
}

std::size_t find_path(const JobReport& report, const PathConditions& wanted) {
    const auto found =
        std::find_if(report.conditions.begin(), report.conditions.end(), [&](const PathConditions& one) {
            return one.name == wanted.name && one.address == wanted.address;
        });
    return static_cast<std::size_t>(found - report.conditions.begin());
}

void merge_time(JobResult& into, const JobResult& other) {
    if (other.measured_from != 0) {
        into.measured_from =
            into.measured_from == 0 ? other.measured_from : std::min(into.measured_from, other.measured_from);
        into.measured_until = std::max(into.measured_until, other.measured_until);
    }
    into.ended = into.ended && other.ended;
}

void add(JobReport& into, const JobReport& other) {
    std::vector<std::uint16_t> index_in_merged;
    for (std::size_t index = 0; index < other.conditions.size(); ++index) {
        const std::size_t same = find_path(into, other.conditions[index]);
        index_in_merged.push_back(static_cast<std::uint16_t>(same));
        if (same == into.conditions.size()) {
            into.conditions.push_back(other.conditions[index]);
            into.result.paths.push_back(other.result.paths[index]);
        } else {
            merge_path(into.result.paths[same], other.result.paths[index]);
        }
    }
    JobResult& result = into.result;
    merge_time(result, other.result);
    result.jobs += other.result.jobs;
    result.cpu.merge(other.result.cpu);
    merge_known(result.held, other.result.held);
    merge_known(result.switch_delay, other.result.switch_delay);
    result.written.total += other.result.written.total;
    result.written.sequential += other.result.written.sequential;
    result.written.small_random += other.result.written.small_random;
    result.response.merge(other.result.response);
    result.events_dropped += other.result.events_dropped;
    for (Event event : other.result.events) {
        if (event.path < index_in_merged.size()) {
            event.path = index_in_merged[event.path];
        }
        result.events.push_back(std::move(event));
    }
    std::stable_sort(result.events.begin(), result.events.end(),
                     [](const Event& a, const Event& b) { return a.monotonic < b.monotonic; });
}

} // namespace

void name_events(JobResult& job) {
    for (Event& event : job.events) {
        if (event.job.empty()) {
            event.job = job.name + "#" + std::to_string(job.thread_number);
        }
    }
}

void merge(JobReport& into, const JobReport& other) {
    JobReport named = other;
    name_events(into.result);
    name_events(named.result);
    merge_times(into.result, named.result); // before the paths: those of older records come from them
    add(into, named);
}

void begin_at(JobReport& report, Nanoseconds from) {
    JobResult& result = report.result;
    if (result.measured_from == 0) {
        return;
    }
    const Nanoseconds by = from - result.measured_from; // modulo 2^64
    result.measured_from += by;
    result.measured_until += by;
    for (Event& event : result.events) {
        event.monotonic += by;
    }
}

void merge_repeat(JobReport& into, JobReport other) {
    JobResult& result = into.result;
    const std::uint32_t jobs = result.jobs;
    if (result.measured_from != 0) {
        begin_at(other, result.measured_until);
    }
    const std::vector<SettingTime> before = result.setting_times();
    merge_times(result, other.result);
    for (SettingTime& time : result.settings) { // a run of the same jobs: their times follow one another
        const auto same = std::find_if(before.begin(), before.end(),
                                       [&](const SettingTime& one) { return one.name == time.name; });
        if (same != before.end()) {
            time.jobs = std::max(same->jobs, time.jobs - same->jobs);
        }
    }
    add(into, other);
    result.jobs = jobs;
}

} // namespace mpath::record
