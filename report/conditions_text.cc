// SPDX-License-Identifier: GPL-2.0-only
#include "report/conditions_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::report {
namespace {

using record::kAbsent;

std::string known(const std::optional<std::string>& text) {
    return text && !text->empty() ? record::printable(*text) : kAbsent;
}

} // namespace

std::string host_line(const record::Conditions& conditions) {
    return fmt::format("host {}, Linux {}, {}, fio-mpath {}, net {}\n", known(conditions.host),
                       known(conditions.kernel_version), known(conditions.fio_version),
                       known(conditions.engine_version), known(conditions.net_backend));
}

namespace {

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

/// Of reads, writes and trims those that are limited, once if they are alike.
std::string limit_text(const char* name, std::array<std::optional<std::uint64_t>, 3> limits,
                       std::string (*format)(double)) {
    std::string text;
    for (const std::optional<std::uint64_t>& limit : limits) {
        const std::string one = limit ? format(static_cast<double>(*limit)) : "";
        if (text != one && !one.empty()) {
            text += (text.empty() ? "" : "/") + one;
        }
    }
    return text.empty() ? "" : fmt::format(", {} {}", name, text);
}

} // namespace

std::string workload_line(const record::Conditions& conditions) {
    const record::Workload& load = conditions.workload;
    std::string text = fmt::format("{} of {} bytes, depth {}", known(load.rw), sizes_text(load),
                                   load.iodepth ? std::to_string(*load.iodepth) : kAbsent);
    text += limit_text("rate", {load.rate_read, load.rate_write, load.rate_trim}, record::format_rate);
    text += limit_text("rate_iops", {load.rate_iops_read, load.rate_iops_write, load.rate_iops_trim},
                       record::format_count);
    if (load.verify && *load.verify != "none") {
        text += ", verify " + record::printable(*load.verify);
    }
    if (load.compress_percent.value_or(0) != 0) {
        text += fmt::format(", buffers {} % compressible", *load.compress_percent);
    }
    if (load.dedupe_percent.value_or(0) != 0) {
        text += fmt::format(", {} % duplicates", *load.dedupe_percent);
    }
    return text + fmt::format(", {} ({})\n", conditions.iopolicy, conditions.iopolicy_rules);
}

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

namespace {

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

} // namespace

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

std::string conditions_text(const record::Conditions& conditions) {
    std::string text = host_line(conditions) + workload_line(conditions);
    if (conditions.steering) {
        const record::Steering& steering = *conditions.steering;
        text += fmt::format("{} {} {}\n", steering.schedule, steering.order, steering.settle_ns);
    }
    for (const record::PathConditions& path : conditions.paths) {
        text += fmt::format("{} {} {}\n", path.name, path.address, path.device.value_or(""));
    }
    return text;
}

} // namespace mpath::report
