// SPDX-License-Identifier: GPL-2.0-only
#include "run/report.h"

#include <algorithm>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::run {
namespace {

using record::kAbsent;

std::string host_of(const record::Conditions& conditions) {
    return conditions.server_port
               ? fmt::format("{},{}", conditions.host.value_or("?"), *conditions.server_port)
               : std::string();
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

// ---- text

std::string known(const std::optional<std::string>& text) {
    return text && !text->empty() ? record::printable(*text) : kAbsent;
}

std::string host_line(const record::Conditions& conditions) {
    return fmt::format("host {}, Linux {}, {}, fio-mpath {}, net {}\n", known(conditions.host),
                       known(conditions.kernel_version), known(conditions.fio_version),
                       known(conditions.engine_version), known(conditions.net_backend));
}

std::string sizes_text(const record::Workload& load) {
    std::string text;
    const auto add = [&](const std::optional<record::BlockSizes>& sizes) {
        if (!sizes) {
            return;
        }
        const std::string one = sizes->min == sizes->max ? fmt::format("{}", sizes->min)
                                                         : fmt::format("{}-{}", sizes->min, sizes->max);
        if (text != one) {
            text += (text.empty() ? "" : "/") + one;
        }
    };
    add(load.read_blocks);
    add(load.write_blocks);
    add(load.trim_blocks);
    return text.empty() ? kAbsent : text;
}

std::string workload_line(const record::Conditions& conditions) {
    const record::Workload& load = conditions.workload;
    std::string text = fmt::format("{} of {} bytes, depth {}", known(load.rw), sizes_text(load),
                                   load.iodepth ? std::to_string(*load.iodepth) : kAbsent);
    if (load.verify && *load.verify != "none") {
        text += ", verify " + record::printable(*load.verify);
    }
    return text + fmt::format(", {} ({})\n", conditions.iopolicy, conditions.iopolicy_rules);
}

/// Nothing without a schedule.
std::string steering_line(const record::Conditions& conditions) {
    if (!conditions.steering) {
        return "";
    }
    const record::Steering& steering = *conditions.steering;
    std::string rest = fmt::format(", {}", record::printable(steering.order));
    if (steering.seed) {
        rest += fmt::format(" (seed {})", *steering.seed);
    }
    rest += fmt::format(", settle {}\n", record::format_time(static_cast<double>(steering.settle_ns)));
    const std::string start = "steer ";
    const std::size_t room = record::kTableWidth + 1 - start.size() - record::text_width(rest);
    return start + record::clip_middle(record::printable(steering.schedule), room) + rest;
}

std::string queues_text(const record::PathConditions& path) {
    if (!path.io_queues) {
        return "not connected";
    }
    const auto digest = [](std::optional<bool> on, const char* name) {
        return on ? fmt::format("{} digest {}", name, *on ? "on" : "off")
                  : fmt::format("{} digest {}", name, kAbsent);
    };
    return fmt::format("{} queue{} of {} entries, {}, {}", *path.io_queues, *path.io_queues == 1 ? "" : "s",
                       path.queue_size ? std::to_string(*path.queue_size) : kAbsent,
                       digest(path.header_digest, "header"), digest(path.data_digest, "data"));
}

/// One line if it is the same for all paths.
std::string queue_lines(const std::vector<record::PathConditions>& paths) {
    const bool same = std::all_of(paths.begin(), paths.end(), [&](const record::PathConditions& path) {
        return queues_text(path) == queues_text(paths.front());
    });
    if (paths.empty()) {
        return "";
    }
    if (same) {
        return fmt::format("each path: {}\n", queues_text(paths.front()));
    }
    std::string text;
    for (const record::PathConditions& path : paths) {
        text += fmt::format("path {}: {}\n", record::printable(path.name), queues_text(path));
    }
    return text;
}

/// Every line within the width of the table.
std::string clip_lines(std::string_view text) {
    std::string clipped;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        clipped += record::clip_end(text.substr(0, end), record::kTableWidth) + "\n";
        text.remove_prefix(end + 1);
    }
    return clipped;
}

} // namespace

bool same_jobs(const Block& a, const Block& b) {
    return a.host == b.host && a.report.result.name == b.report.result.name && share_a_group(a, b);
}

std::vector<Block> blocks_of(std::span<const record::Record> records) {
    std::vector<Block> blocks;
    for (const record::Record& record : records) {
        Block block{
            host_of(record.conditions), record.conditions, {record.results, record.conditions.paths}, false};
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
                                           [&](const Block& other) { return same_jobs(other, block); });
            if (same == merged.end()) {
                merged.push_back(block);
            } else {
                record::merge_repeat(same->report, block.report);
            }
        }
    }
    return merged;
}

std::string render(std::span<const Block> blocks) {
    std::string text;
    std::string host;
    for (const Block& block : blocks) {
        text += text.empty() ? "" : "\n";
        if (!block.is_sum && host_line(block.conditions) + block.host != host) {
            host = host_line(block.conditions) + block.host;
            text += clip_lines(host_line(block.conditions));
        }
        record::JobReport report = block.report;
        if (!block.host.empty()) {
            report.result.name += " on " + block.host;
        }
        if (!block.is_sum) {
            text += clip_lines(workload_line(block.conditions) + steering_line(block.conditions) +
                               queue_lines(report.conditions));
        }
        text += record::render_table(report);
    }
    return text;
}

std::vector<std::string> jobs_without_io(std::span<const record::Record> records) {
    std::vector<std::string> names;
    for (const record::Record& record : records) {
        const auto& operations = record.results.response.operations;
        if (std::all_of(operations.begin(), operations.end(),
                        [](const record::OperationResult& one) { return one.count() == 0; })) {
            names.push_back(record.results.name);
        }
    }
    return names;
}

} // namespace mpath::run
