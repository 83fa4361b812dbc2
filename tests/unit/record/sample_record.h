// SPDX-License-Identifier: GPL-2.0-only
// A record with something in every field, for tests.
#pragma once

#include <array>
#include <string>

#include "record/intervals.h"
#include "record/merge.h"
#include "record/record.h"
#include "record/visits_file.h"

namespace mpath::record {

inline OperationResult operation(std::uint64_t count, std::uint64_t time, std::uint64_t size = 4096) {
    OperationResult result;
    for (std::uint64_t index = 0; index < count; ++index) {
        // A tail of one in a hundred, five times as long.
        const std::uint64_t each = index % 100 == 99 ? 5 * time : time;
        result.moments.add(each, size);
        result.histogram.add(each);
    }
    return result;
}

inline PathResult path_result(const std::string& name, std::uint64_t reads, std::uint64_t time) {
    PathResult path;
    path.name = name;
    path.state = PathState::optimized;
    path.settings.push_back({"round-robin", {}});
    path.settings[0].operations.of(Operation::read) = operation(reads, time);
    path.depth = {reads * time, 4};
    return path;
}

inline PathConditions path_conditions(const std::string& name, const std::string& address) {
    PathConditions path;
    path.name = name;
    path.address = address;
    path.device = "uuid 1b4e28ba-2fa1-11d2-883f-0016d3cca427";
    path.model = "fio-mpath target";
    path.serial = "0123456789";
    path.firmware = "0.1";
    path.group = 1;
    return path;
}

/// Two paths, one of them 200 µs slower.
inline JobReport sample_report() {
    JobReport report;
    report.result.name = "both";
    report.result.thread_number = 1;
    report.result.iopolicy = "round-robin";
    report.result.measured_from = 5 * kSecond;
    report.result.measured_until = 15 * kSecond;
    report.result.ended = true;
    report.result.settings = {{"round-robin", 10 * kSecond, 1, 1, 0}};
    report.result.paths = {path_result("p0", 12'000, 61'000), path_result("p1", 12'000, 263'000)};
    report.conditions = {path_conditions("p0", "127.0.0.1:4420/nqn.2024-01.io.example:demo/1"),
                         path_conditions("p1", "127.0.0.1:4421/nqn.2024-01.io.example:demo/1")};
    return report;
}

/// The same paths in two settings in turn, 4 s steady in each; the rest is transition.
inline JobReport steered_report() {
    JobReport report = sample_report();
    report.result.settings = {{"round-robin", 4 * kSecond, 1, 3, 0}, {"queue-depth", 4 * kSecond, 1, 2, 1}};
    report.result.switch_delay = DelayResult{operation(4, 120'000, 0)};
    const std::array<std::array<std::uint64_t, 3>, 2> reads{{{4'000, 6'000, 500}, {4'000, 2'000, 500}}};
    for (std::size_t path = 0; path < 2; ++path) {
        const std::uint64_t time = path == 0 ? 61'000 : 263'000;
        std::vector<SettingResult>& settings = report.result.paths[path].settings;
        settings = {{"round-robin", {}}, {"queue-depth", {}}, {std::string(kTransition), {}}};
        for (std::size_t setting = 0; setting < settings.size(); ++setting) {
            settings[setting].operations.of(Operation::read) = operation(reads[path][setting], time);
        }
    }
    return report;
}

inline Visit sample_visit(std::uint64_t number) {
    Visit visit;
    visit.number = number;
    visit.setting = "queue-depth";
    visit.cause = VisitCause::schedule;
    visit.unit = 0;
    visit.asked = number * kSecond;
    visit.began = visit.asked + 100'000;
    visit.first_io = visit.asked + 120'000;
    visit.settled = visit.asked + 500 * kMillisecond;
    visit.ended = visit.asked + kSecond;
    visit.disturbances = 1;
    visit.transition[0].add(61'000, 4096);
    visit.steady[0].add(71'000, 4096);
    visit.steady[1].add(81'000, 8192);
    return visit;
}

inline Record sample_record() {
    Record record;
    record.complete = true;
    record.written_utc = 1'790'000'000'123'456'789;
    record.intervals_file = "run_mpath.1.intervals";
    const JobReport report = sample_report();
    record.results = report.result;
    PathResult& path = record.results.paths[0];
    path.settings[0].operations.of(Operation::write) = operation(10, 99'000, 65'536);
    path.waits = {3, 4000, 2000};
    path.requeues = 2;
    path.requeue_delay = DelayResult{operation(2, 4'000, 0)};
    path.retries = 5;
    path.exposed_writes = 1;
    path.errors[static_cast<std::size_t>(ErrorClass::ana_transition)] = 2;
    path.traffic = {12'000, 12'001, 12'002, 864'000, 49'152'000, 49'000'000, 152'000, 0, 1, 2};
    path.sampled_reads = 100;
    path.all_zero_reads = 7;
    record.results.cpu = {1'000'000, 2'000'000, 30, 4, 1500};
    record.results.written = {655'360, 65'536, 0};
    record.results.response.of(Operation::read) = operation(24'000, 170'000);
    record.results.events = {
        {record.written_utc, 6 * kSecond, 1, EventKind::state, "optimized -> inaccessible"},
        {record.written_utc, 7 * kSecond, kNoPath, EventKind::lost, "all of it"}};
    record.results.events[0].gap = 1'234 * kMillisecond;
    record.results.events[0].requeues = 2;
    record.results.events[0].exposed_writes = 1;
    record.results.events[0].detection = 20 * kMillisecond;
    record.results.events_dropped = 1;
    record.results.held = HoldResult{3, 3'000, 2'000, 1};
    record.results.switch_delay = DelayResult{operation(2, 105'000, 0)};
    record.visits_file = "run_mpath.1.visits.jsonl";

    Conditions& conditions = record.conditions;
    conditions.fio_version = "fio-3.33";
    conditions.host = "host";
    conditions.server_port = 8765;
    conditions.iopolicy = "round-robin";
    conditions.iopolicy_rules = "linux kernel";
    conditions.iopolicy_scope = "job";
    conditions.associations = 2;
    conditions.steering = Steering{"round-robin@10s,queue-depth@10s", "shuffle", 500 * kMillisecond, 7};
    conditions.workload.rw = "randread";
    conditions.workload.read_blocks = {4096, 4096};
    conditions.workload.iodepth = 32;
    conditions.paths = report.conditions;
    conditions.paths[0].state_at_start = PathState::optimized;
    conditions.paths[0].state_at_end = PathState::inaccessible;
    conditions.paths[0].header_digest = false;
    conditions.paths[0].in_capsule_bytes = 8192;
    return record;
}

inline Interval sample_interval(Nanoseconds end) {
    Interval interval{1'790'000'000'000'000'000 + end, end, kSecond};
    interval.setting = "round-robin";
    IntervalPath path;
    path.name = "p0";
    path.state = PathState::non_optimized;
    path.operations[0].moments.add(61'000, 4096);
    path.mean_depth = 1.5;
    TcpSample sample;
    sample.queue = 1;
    sample.congestion_control = "bbr";
    sample.rtt_us = 25;
    path.connections.push_back(sample);
    interval.paths.push_back(path);
    return interval;
}

} // namespace mpath::record
