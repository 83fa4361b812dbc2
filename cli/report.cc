// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath report: what records say, merged and compared.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/report_output.h"
#include "report/report.h"

namespace mpath::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kReportFooter = R"(
Examples:
  what a job with mpath_log=run left behind:
    fio-mpath report run_mpath.*.json
  all records in a folder, for scripts and for a spreadsheet as well:
    fio-mpath report --json report.json --csv numbers.csv results/

A RECORD is a file that a job with mpath_log=PREFIX wrote, PREFIX_mpath.N.json, or a folder with such files. Records
of one run are told together, those of its repeats are added up and their spread is shown; visits and time series that lie
beside a record are read with it.
Exit status: 0; 1 if a record can't be read, or if something that should have been measured was not.)";

struct ReportWords {
    std::vector<std::string> records;
    std::string against;
    ReportOutput output;
};

bool is_record_name(const fs::path& file) {
    const std::string name = file.filename();
    return name.find("_mpath.") != std::string::npos && name.ends_with(".json");
}

/// Files as they are, of folders the records in them; each once.
Result<std::vector<std::string>> record_files(const std::vector<std::string>& named) {
    std::vector<std::string> files;
    std::vector<fs::path> seen;
    const auto add = [&](const fs::path& file) {
        std::error_code ignored;
        const fs::path place = fs::weakly_canonical(file, ignored);
        if (std::find(seen.begin(), seen.end(), place) == seen.end()) {
            seen.push_back(place);
            files.push_back(file);
        }
    };
    for (const std::string& name : named) {
        std::error_code fault;
        if (!fs::is_directory(name, fault)) {
            add(name);
            continue;
        }
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(name, fault)) {
            if (is_record_name(entry.path())) {
                found.push_back(entry.path());
            }
        }
        if (fault) {
            return failure(fault.value(), "{} can't be read: {}", name, fault.message());
        }
        if (found.empty()) {
            return failure(ENOENT, "{} has no record in it: no file is named PREFIX_mpath.N.json", name);
        }
        std::sort(found.begin(), found.end());
        std::for_each(found.begin(), found.end(), add);
    }
    return files;
}

bool any_comparison(const report::Report& report) {
    return std::any_of(report.blocks.begin(), report.blocks.end(),
                       [](const report::BlockReport& one) { return !one.comparisons.empty(); });
}

int report_records(const ReportWords& words) {
    const auto files = record_files(words.records);
    if (!files) {
        return complain(files.error().text);
    }
    std::vector<report::Job> jobs;
    int status = 0;
    for (const std::string& file : *files) {
        auto job = report::load_job(file);
        if (job) {
            jobs.push_back(std::move(*job));
        } else {
            status = complain(job.error().text);
        }
    }
    if (status != 0) {
        return status;
    }
    const report::Report report = report::make_report(report::runs_of(std::move(jobs)), words.against);
    if (!words.against.empty() && !any_comparison(report)) {
        return complain(fmt::format("--against {}: no schedule of these records has a setting of that name",
                                    words.against));
    }
    if (const auto written = write_report(report, words.output, stdout); !written) {
        return complain(written.error().text);
    }
    return report.has_errors() ? 1 : 0;
}

} // namespace

Command add_report(CLI::App& parent) {
    auto words = std::make_shared<ReportWords>();
    CLI::App* app = parent.add_subcommand(
        "report", "Merges the records of jobs, repeats and hosts, compares settings, and says what to doubt");
    app->footer(kReportFooter);
    app->add_option("RECORD", words->records, "Records, or folders with records")->required()->type_name("");
    app->add_option("--against", words->against,
                    "The setting that others are compared with (default: the first of the schedule)")
        ->type_name("SETTING");
    add_report_options(*app, words->output);
    return {app, [words] { return report_records(*words); }};
}

} // namespace mpath::cli
