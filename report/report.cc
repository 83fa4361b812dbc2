// SPDX-License-Identifier: GPL-2.0-only
#include "report/report.h"

#include <algorithm>
#include <utility>

#include "report/spread.h"

namespace mpath::report {

bool Report::has_errors() const {
    return std::any_of(blocks.begin(), blocks.end(), [](const BlockReport& one) {
        return std::any_of(one.findings.begin(), one.findings.end(),
                           [](const Finding& finding) { return finding.weight == Weight::error; });
    });
}

Report make_report(std::vector<Run> runs, const std::string& against) {
    Report report;
    report.runs = std::move(runs);
    std::vector<std::vector<Block>> by_run;
    std::vector<Block> all;
    for (const Run& run : report.runs) {
        const std::vector<Block>& blocks = by_run.emplace_back(blocks_of(run));
        all.insert(all.end(), blocks.begin(), blocks.end());
    }
    for (Block& block : merge_repeats(by_run)) {
        BlockReport& one = report.blocks.emplace_back();
        one.client = client_of(block);
        one.history = history_of(block, all);
        one.rows = rows_of(block);
        one.comparisons = compare_settings(block, against);
        one.findings = findings_of(block, one.client);
        one.spread = render_spread(block, by_run);
        report.several_runs = report.several_runs || block.run != report.runs.front().name;
        one.block = std::move(block);
    }
    return report;
}

} // namespace mpath::report
