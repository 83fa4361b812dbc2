// SPDX-License-Identifier: GPL-2.0-only
// Records of small jobs.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "report/block.h"

namespace mpath::report {

struct JobShape {
    std::string name = "job";
    std::uint32_t thread_number = 1;
    std::uint32_t group = 0;
    std::string device = "uuid 1";
    std::string host = "h1";
    std::optional<std::uint64_t> server_port{};
    std::uint64_t reads = 1000;
    Nanoseconds time = 100'000; ///< each read
    Nanoseconds from = 5 * kSecond;
    Nanoseconds measured = 10 * kSecond;
};

inline record::Record record_of(const JobShape& shape) {
    record::Record record;
    record.complete = true;
    record.conditions.host = shape.host;
    record.conditions.server_port = shape.server_port;
    record.conditions.fio_version = "fio-3.33";
    record.conditions.engine_version = "0.1.0";
    record.conditions.kernel_version = "6.1.0";
    record.conditions.net_backend = "io_uring";
    record.conditions.iopolicy = "round-robin";
    record.conditions.iopolicy_rules = "linux-6.11";
    record.conditions.iopolicy_scope = "job";
    record.conditions.workload.rw = "randread";
    record.conditions.workload.read_blocks = record::BlockSizes{4096, 4096};
    record.conditions.workload.iodepth = 8;
    record::PathConditions path;
    path.name = "a";
    path.address = "127.0.0.1:4420";
    path.device = shape.device;
    path.io_queues = 1;
    path.queue_size = 128;
    path.header_digest = false;
    path.data_digest = true;
    record.conditions.paths = {path};

    record::JobResult& result = record.results;
    result.name = shape.name;
    result.thread_number = shape.thread_number;
    result.group_id = shape.group;
    result.iopolicy = "round-robin";
    result.ended = true;
    result.measured_from = shape.from;
    result.measured_until = shape.from + shape.measured;
    record::OperationResult reads;
    for (std::uint64_t i = 0; i < shape.reads; ++i) {
        reads.moments.add(shape.time, 4096);
        reads.histogram.add(shape.time);
    }
    result.response.of(Operation::read) = reads;
    record::PathResult on_path;
    on_path.name = "a";
    on_path.state = PathState::optimized;
    on_path.settings.push_back({"round-robin", {}});
    on_path.settings[0].operations.of(Operation::read) = reads;
    result.paths = {on_path};
    return record;
}

/// One fio's jobs.
inline Run run_of(std::vector<record::Record> records, const std::string& name = "run") {
    std::vector<Job> jobs;
    for (record::Record& record : records) {
        const std::string file = name + "_mpath." + std::to_string(jobs.size() + 1) + ".json";
        jobs.push_back(Job{file, std::move(record), {}, {}, {}});
    }
    return make_run(name, std::move(jobs));
}

/// Blocks of one fio's jobs, which are kept: blocks point to them.
inline std::vector<Block> blocks_of(std::vector<record::Record> records, const std::string& name = "run") {
    static std::deque<Run> kept;
    return blocks_of(kept.emplace_back(run_of(std::move(records), name)));
}

} // namespace mpath::report
