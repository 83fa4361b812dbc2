// SPDX-License-Identifier: GPL-2.0-only
#include "report/block.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/conditions_text.h"

namespace mpath::report {
namespace {

/// Empty where one host ran everything by itself.
std::string host_of(const record::Conditions& conditions, bool several_hosts) {
    const std::string name = conditions.host.value_or("?");
    if (conditions.server_port) {
        return fmt::format("{},{}", name, *conditions.server_port);
    }
    return several_hosts ? name : "";
}

bool on_several_hosts(const Run& run) {
    return std::any_of(run.jobs.begin(), run.jobs.end(), [&](const Job& job) {
        return job.record.conditions.host != run.jobs.front().record.conditions.host;
    });
}

const std::optional<std::string>& device_of(const record::JobReport& report) {
    static const std::optional<std::string> none;
    return report.conditions.empty() ? none : report.conditions.front().device;
}

/// Jobs that ran side by side. Other hosts have clocks of their own; there, jobs are taken to have begun
/// together, as fio's client makes them.
void merge_parallel(Block& into, const Block& other) {
    record::JobReport report = other.report;
    if (into.conditions.host != other.conditions.host && into.report.result.measured_from != 0) {
        record::begin_at(report, into.report.result.measured_from);
    }
    record::merge(into.report, report);
    into.repeats.front().insert(into.repeats.front().end(), other.repeats.front().begin(),
                                other.repeats.front().end());
}

bool share_a_group(const Block& a, const Block& b) {
    return a.report.result.group_id == b.report.result.group_id && device_of(a.report) == device_of(b.report);
}

/// Its events tell the server as well: jobs of several servers have the same names and numbers.
Block with_host_in_events(Block block) {
    if (!block.host.empty()) {
        record::name_events(block.report.result);
        for (record::Event& event : block.report.result.events) {
            event.job += " on " + block.host;
        }
    }
    return block;
}

/// Behind the last block of each group that has several.
std::vector<Block> with_sums(const std::vector<Block>& blocks) {
    std::vector<Block> all;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        all.push_back(blocks[i]);
        const auto same = [&](const Block& other) { return share_a_group(blocks[i], other); };
        const bool is_last =
            std::none_of(blocks.begin() + static_cast<std::ptrdiff_t>(i) + 1, blocks.end(), same);
        if (!is_last || std::count_if(blocks.begin(), blocks.end(), same) < 2) {
            continue;
        }
        auto next = std::find_if(blocks.begin(), blocks.end(), same);
        Block sum = with_host_in_events(*next);
        while ((next = std::find_if(next + 1, blocks.end(), same)) != blocks.end()) {
            merge_parallel(sum, with_host_in_events(*next));
            sum.host = sum.host == next->host ? sum.host : "all hosts";
        }
        sum.is_sum = true;
        sum.report.result.name = "all of group " + std::to_string(sum.report.result.group_id);
        all.push_back(std::move(sum));
    }
    return all;
}

} // namespace

std::vector<const Job*> Block::jobs() const {
    std::vector<const Job*> all;
    for (const std::vector<const Job*>& jobs : repeats) {
        all.insert(all.end(), jobs.begin(), jobs.end());
    }
    return all;
}

bool same_jobs(const Block& a, const Block& b) {
    return a.host == b.host && a.report.result.name == b.report.result.name && share_a_group(a, b);
}

bool same_conditions(const Block& a, const Block& b) {
    return same_jobs(a, b) && a.is_sum == b.is_sum &&
           conditions_text(a.conditions) == conditions_text(b.conditions);
}

std::vector<Block> blocks_of(const Run& run) {
    std::vector<Block> blocks;
    const bool several_hosts = on_several_hosts(run);
    for (const Job& job : run.jobs) {
        const record::Record& record = job.record;
        Block block{host_of(record.conditions, several_hosts),
                    record.conditions,
                    {record.results, record.conditions.paths},
                    false,
                    {{&job}},
                    run.name};
        const auto same = std::find_if(blocks.begin(), blocks.end(),
                                       [&](const Block& other) { return same_jobs(other, block); });
        if (same == blocks.end()) {
            blocks.push_back(std::move(block));
        } else {
            merge_parallel(*same, block);
        }
    }
    return with_sums(blocks);
}

std::vector<Block> merge_repeats(std::span<const std::vector<Block>> repeats) {
    std::vector<Block> merged;
    for (const std::vector<Block>& blocks : repeats) {
        for (const Block& block : blocks) {
            const auto same = std::find_if(merged.begin(), merged.end(),
                                           [&](const Block& other) { return same_conditions(other, block); });
            if (same == merged.end()) {
                merged.push_back(block);
            } else {
                record::merge_repeat(same->report, block.report);
                same->repeats.push_back(block.repeats.front());
            }
        }
    }
    return merged;
}

std::vector<std::string> jobs_without_io(const Run& run) {
    std::vector<std::string> names;
    for (const Job& job : run.jobs) {
        const auto& operations = job.record.results.response.operations;
        if (std::all_of(operations.begin(), operations.end(),
                        [](const record::OperationResult& one) { return one.count() == 0; })) {
            names.push_back(job.record.results.name);
        }
    }
    return names;
}

} // namespace mpath::report
