// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_output.h"

#include <cstdio>

#include <fmt/format.h>

#include "record/file.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/text.h"

namespace mpath::cli {

namespace {

constexpr const char* kStandardOutput = "-";

Result<void> write_to(const std::string& file, const std::string& text) {
    if (file == kStandardOutput) {
        const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
        return written && std::fflush(stdout) == 0 ? Result<void>{}
                                                   : failure(errno, "standard output: {}", reason_of(errno));
    }
    return record::replace_file(file, text, "the report");
}

} // namespace

void add_report_options(CLI::App& app, ReportOutput& output) {
    app.add_option("--json", output.json,
                   "Write the report as JSON; - is standard output, instead of the text")
        ->type_name("FILE");
    app.add_option("--csv", output.csv, "Write its numbers as CSV; - likewise")->type_name("FILE");
}

Result<void> write_report(const report::Report& report, const ReportOutput& output, std::FILE* out) {
    const bool text_is_wanted = output.json != kStandardOutput && output.csv != kStandardOutput;
    if (text_is_wanted) {
        fmt::print(out, "{}", report::to_text(report));
        std::fflush(out);
    }
    if (!output.json.empty()) {
        if (auto written = write_to(output.json, report::to_json(report)); !written) {
            return written;
        }
    }
    if (!output.csv.empty()) {
        return write_to(output.csv, report::to_csv(report));
    }
    return {};
}

} // namespace mpath::cli
