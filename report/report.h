// SPDX-License-Identifier: GPL-2.0-only
// What a report says, worked out from the records once for all its formats.
#pragma once

#include <string>
#include <vector>

#include "report/block.h"
#include "report/client.h"
#include "report/finding.h"
#include "report/history.h"
#include "report/rows.h"
#include "report/settings_comparison.h"

namespace mpath::report {

struct BlockReport {
    Block block; ///< merged over repeats
    Client client;
    History history;
    std::vector<Row> rows;
    std::vector<Comparison> comparisons; ///< of settings
    std::vector<Finding> findings;
    std::string spread; ///< over the repeats; empty without any
};

/// Blocks point into the runs, so a report can be moved but not copied.
struct Report {
    std::vector<Run> runs;
    std::vector<BlockReport> blocks;
    bool several_runs = false; ///< of different conditions: each block then says which it is of

    Report() = default;
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;
    Report(Report&&) = default;
    Report& operator=(Report&&) = default;
    ~Report() = default;

    /// Whether something that should have been measured was not.
    [[nodiscard]] bool has_errors() const;
};

/// Settings are compared with `against`, or with the first of each schedule.
[[nodiscard]] Report make_report(std::vector<Run> runs, const std::string& against = {});

} // namespace mpath::report
