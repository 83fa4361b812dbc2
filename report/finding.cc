// SPDX-License-Identifier: GPL-2.0-only
#include "report/finding.h"

#include <algorithm>

#include <fmt/format.h>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::report {
namespace {

using record::format_time;
using record::printable;
using Findings = std::vector<Finding>;

std::uint64_t count_of(const record::OperationResults& results) {
    std::uint64_t count = 0;
    for (const record::OperationResult& operation : results.operations) {
        count += operation.count();
    }
    return count;
}

/// I/Os that the steady parts of a setting's visits counted.
std::uint64_t count_in(const record::JobResult& job, const std::string& setting) {
    std::uint64_t count = 0;
    for (const record::PathResult& path : job.paths) {
        for (const record::SettingResult& one : path.settings) {
            count += one.name == setting ? count_of(one.operations) : 0;
        }
    }
    return count;
}

void find_without_io(Findings& findings, const record::JobResult& job) {
    if (count_of(job.response) == 0) {
        findings.push_back(
            {Weight::error, fmt::format("{} did no I/O: nothing was measured", printable(job.name))});
        return;
    }
    for (const record::SettingTime& setting : job.settings) {
        const std::string name = printable(setting.name);
        if (setting.visits == 0) {
            findings.push_back(
                {Weight::error, fmt::format("setting {} was never visited: the job ended before "
                                            "its turn; run longer or shorten the schedule",
                                            name)});
        } else if (setting.steady_time == 0) {
            findings.push_back(
                {Weight::error, fmt::format("setting {} was never steady: its visits are no longer "
                                            "than steer_settle= and what I/O needs to drain",
                                            name)});
        } else if (count_in(job, setting.name) == 0) {
            findings.push_back(
                {Weight::error,
                 fmt::format("setting {} should have had I/O and had none: nothing was measured in it",
                             name)});
        }
    }
}

void find_cut_off(Findings& findings, const Block& block) {
    for (const Job* job : block.jobs()) {
        if (!job->record.complete) {
            findings.push_back(
                {Weight::warning, fmt::format("{} is a checkpoint: the job had not ended when it was "
                                              "written, and no more is known",
                                              printable(job->file))});
        }
        for (const std::string& missing : job->missing) {
            findings.push_back({Weight::warning, missing});
        }
    }
    if (block.report.result.events_dropped != 0) {
        findings.push_back({Weight::warning, fmt::format("{} further path events were not kept",
                                                         block.report.result.events_dropped)});
    }
}

void find_zeroes(Findings& findings, const record::JobResult& job) {
    for (const record::PathResult& path : job.paths) {
        if (!path.sampled_reads || !path.all_zero_reads || *path.sampled_reads == 0) {
            continue;
        }
        const double part =
            static_cast<double>(*path.all_zero_reads) / static_cast<double>(*path.sampled_reads);
        if (part > kManyZeroes) {
            findings.push_back(
                {Weight::warning,
                 fmt::format("{:.0f} % of the {} sampled reads on path {} were nothing but zeroes: "
                             "blocks that were never written cost the storage little; fill the "
                             "device first",
                             part * 100, *path.sampled_reads, printable(path.name))});
        }
    }
}

bool is_limited(const record::Workload& load) {
    return load.rate_read || load.rate_write || load.rate_trim || load.rate_iops_read ||
           load.rate_iops_write || load.rate_iops_trim;
}

void find_saturation(Findings& findings, const Block& block) {
    const record::JobResult& job = block.report.result;
    const record::Workload& load = block.conditions.workload;
    const std::uint64_t ios = count_of(job.response);
    if (is_limited(load) || !load.iodepth || job.measured() == 0 || ios == 0) {
        return;
    }
    double sum = 0; // of response times: divided by the time, the mean of I/Os outstanding
    for (const record::OperationResult& operation : job.response.operations) {
        sum += static_cast<double>(operation.moments.sum);
    }
    const double slots = static_cast<double>(*load.iodepth) * job.jobs;
    const double outstanding = sum / static_cast<double>(job.measured());
    if (outstanding < kFullQueue * slots) {
        return;
    }
    const double seconds = static_cast<double>(job.measured()) / static_cast<double>(kSecond);
    const double iops = static_cast<double>(ios) / seconds;
    findings.push_back(
        {Weight::note,
         fmt::format(
             "a saturation point: there was no rate and the queue of {:.0f} was always full, so that mean "
             "response time is depth / IOPS = {:.1f} / {} = {}; with less load (rate_iops=) it is lower",
             slots, outstanding, record::format_count(iops), format_time(sum / static_cast<double>(ios)))});
}

void find_client_limit(Findings& findings, const Client& client) {
    if (client.cores_per_job && *client.cores_per_job >= kBusyCore) {
        findings.push_back(
            {Weight::warning,
             fmt::format("each job's thread used {:.0f} % of a core: the limit is likely the client, not "
                         "the storage; use more jobs",
                         *client.cores_per_job * 100)});
    }
    for (const Backpressure& path : client.paths) {
        if (path.by_send_buffer.value_or(0) >= kHeldBack) {
            findings.push_back(
                {Weight::warning,
                 fmt::format("sending on path {} was held back by our own send buffer {:.0f} % of the "
                             "time: the limit may be the client or the network",
                             printable(path.path), *path.by_send_buffer * 100)});
        }
        if (path.by_window.value_or(0) >= kHeldBack) {
            findings.push_back(
                {Weight::warning,
                 fmt::format("sending on path {} was held back by the target's receive window {:.0f} % "
                             "of the time: the limit is likely how fast the target takes data",
                             printable(path.path), *path.by_window * 100)});
        }
    }
}

/// Breaks at spaces; what follows the first line is set off by two spaces.
std::string wrapped(std::string text) {
    std::string lines;
    while (record::text_width(text) > record::kTableWidth) {
        std::size_t end = std::string::npos;
        for (std::size_t space = text.find(' ', 3); space != std::string::npos;
             space = text.find(' ', space + 1)) {
            if (record::text_width(std::string_view(text).substr(0, space)) > record::kTableWidth) {
                break;
            }
            end = space;
        }
        if (end == std::string::npos) {
            break; // one long word: nothing is left out
        }
        lines += text.substr(0, end) + "\n";
        text = "  " + text.substr(end + 1);
    }
    return lines + text + "\n";
}

} // namespace

std::string_view to_string(Weight weight) {
    switch (weight) {
    case Weight::note:
        return "note";
    case Weight::warning:
        return "warning";
    case Weight::error:
        return "error";
    }
    return "unknown";
}

std::vector<Finding> findings_of(const Block& block, const Client& client) {
    Findings findings;
    if (block.is_sum) {
        return findings;
    }
    find_without_io(findings, block.report.result);
    find_cut_off(findings, block);
    find_zeroes(findings, block.report.result);
    find_client_limit(findings, client);
    find_saturation(findings, block);
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.weight > b.weight; });
    return findings;
}

std::string finding_lines(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        text += wrapped(fmt::format("{}: {}", to_string(finding.weight), finding.text));
    }
    return text;
}

} // namespace mpath::report
