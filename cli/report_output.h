// SPDX-License-Identifier: GPL-2.0-only
// Where a report goes: the options that every command with a report has, and what they do.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "report/report.h"

namespace mpath::cli {

struct ReportOutput {
    std::string json; ///< file names; "-" is standard output, in place of the text; empty: not wanted
    std::string csv;
};

void add_report_options(CLI::App& app, ReportOutput& output);

/// Text to `out`, and the files. Nothing is left half-written.
[[nodiscard]] Result<void> write_report(const report::Report& report, const ReportOutput& output,
                                        std::FILE* out);

} // namespace mpath::cli
