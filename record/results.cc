// SPDX-License-Identifier: GPL-2.0-only
#include "record/results.h"

#include <algorithm>
#include <numeric>

namespace mpath::record {

Maybe sum(Maybe a, Maybe b) {
    return a && b ? Maybe(*a + *b) : std::nullopt;
}

Maybe OperationResult::percentile(double percent) const {
    if (histogram.empty() || moments.count == 0) {
        return std::nullopt;
    }
    return std::clamp(histogram.percentile(percent), moments.min, std::max(moments.min, moments.max));
}

void OperationResult::merge(const OperationResult& other) {
    moments.merge(other.moments);
    histogram.merge(other.histogram);
}

void OperationResults::merge(const OperationResults& other) {
    for (std::size_t index = 0; index < kOperations; ++index) {
        operations[index].merge(other.operations[index]);
    }
}

void HoldResult::merge(const HoldResult& other) {
    count += other.count;
    total += other.total;
    max = std::max(max, other.max);
    failed += other.failed;
}

void TrafficResult::merge(const TrafficResult& other) {
    commands = sum(commands, other.commands);
    pdus_sent = sum(pdus_sent, other.pdus_sent);
    pdus_received = sum(pdus_received, other.pdus_received);
    wire_bytes_sent = sum(wire_bytes_sent, other.wire_bytes_sent);
    wire_bytes_received = sum(wire_bytes_received, other.wire_bytes_received);
    payload_direct = sum(payload_direct, other.payload_direct);
    payload_copied = sum(payload_copied, other.payload_copied);
    protocol_violations = sum(protocol_violations, other.protocol_violations);
    header_digest_errors = sum(header_digest_errors, other.header_digest_errors);
    data_digest_errors = sum(data_digest_errors, other.data_digest_errors);
}

std::uint64_t PathResult::error_count() const {
    return std::accumulate(errors.begin(), errors.end(), std::uint64_t{0});
}

OperationResults PathResult::operations() const {
    OperationResults all;
    for (const SettingResult& setting : settings) {
        all.merge(setting.operations);
    }
    return all;
}

double SettingTime::seconds() const {
    return jobs == 0 ? 0 : static_cast<double>(steady_time) / jobs / static_cast<double>(kSecond);
}

std::vector<SettingTime> JobResult::setting_times() const {
    if (!settings.empty()) {
        return settings;
    }
    std::vector<SettingTime> times;
    for (const PathResult& path : paths) {
        for (const SettingResult& setting : path.settings) {
            const auto same = [&](const SettingTime& time) { return time.name == setting.name; };
            if (std::none_of(times.begin(), times.end(), same)) {
                times.push_back({setting.name, measured() * jobs, jobs, jobs, 0});
            }
        }
    }
    return times;
}

bool JobResult::has_several_settings() const {
    return std::any_of(paths.begin(), paths.end(),
                       [](const PathResult& path) { return path.settings.size() > 1; });
}

void CpuResult::merge(const CpuResult& other) {
    user = sum(user, other.user);
    system = sum(system, other.system);
    voluntary_switches = sum(voluntary_switches, other.voluntary_switches);
    involuntary_switches = sum(involuntary_switches, other.involuntary_switches);
    system_calls = sum(system_calls, other.system_calls);
}

} // namespace mpath::record
