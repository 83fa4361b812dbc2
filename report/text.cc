// SPDX-License-Identifier: GPL-2.0-only
#include "report/text.h"

#include <string_view>

#include <fmt/format.h>

#include "record/table.h"
#include "record/text.h"
#include "report/comparison_table.h"
#include "report/conditions_text.h"

namespace mpath::report {
namespace {

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

/// When it began, and how often it was repeated.
std::string run_line(const Block& block) {
    const Job& first = *block.repeats.front().front();
    std::string text =
        fmt::format("run {}, {}", record::printable(block.run),
                    first.began_utc() == 0 ? "never measured" : record::utc_text(first.began_utc()));
    if (block.repeats.size() > 1) {
        text +=
            fmt::format(", and {} repeat{}", block.repeats.size() - 1, block.repeats.size() == 2 ? "" : "s");
    }
    return text + "\n";
}

std::string conditions_of(const BlockReport& one) {
    const record::Conditions& conditions = one.block.conditions;
    return clip_lines(workload_line(conditions) + steering_line(conditions) +
                      queue_lines(one.block.report.conditions) + history_line(one.block, one.history));
}

std::string block_text(const BlockReport& one) {
    record::JobReport report = one.block.report;
    if (!one.block.host.empty()) {
        report.result.name += " on " + one.block.host;
    }
    std::string text = one.block.is_sum ? "" : conditions_of(one);
    text += record::render_numbers(report) + clip_lines(client_line(one.client));
    if (!one.spread.empty()) {
        text += "\n" + one.spread + "\n";
    }
    return text + comparison_table(one.comparisons) + record::render_events(report) +
           finding_lines(one.findings);
}

} // namespace

std::string to_text(const Report& report) {
    std::string text;
    std::string run;
    std::string host;
    for (const BlockReport& one : report.blocks) {
        const Block& block = one.block;
        text += text.empty() ? "" : "\n";
        if (report.several_runs && block.run != run) {
            run = block.run;
            text += clip_lines(run_line(block));
        }
        if (!block.is_sum && host_line(block.conditions) + block.host != host) {
            host = host_line(block.conditions) + block.host;
            text += clip_lines(host_line(block.conditions));
        }
        text += block_text(one);
    }
    return text;
}

} // namespace mpath::report
