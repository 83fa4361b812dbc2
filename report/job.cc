// SPDX-License-Identifier: GPL-2.0-only
#include "report/job.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

namespace mpath::report {
namespace {

namespace fs = std::filesystem;

/// The file that a record names, in the record's folder.
std::string beside(const std::string& record_file, const std::string& name) {
    return (fs::path(record_file).parent_path() / name).string();
}

template <typename Read, typename Into>
void load_beside(Job& job, const std::optional<std::string>& name, Read read, Into& into, const char* what) {
    if (!name) {
        return;
    }
    auto loaded = read(beside(job.file, *name));
    if (loaded) {
        into = std::move(*loaded);
    } else {
        job.missing.push_back(
            fmt::format("{} of {} is left out: {}", what, job.record.results.name, loaded.error().text));
    }
}

/// Folder and prefix: "…/run" of "…/run_mpath.1.json". What was renamed is a run of its own.
std::string prefix_of(const std::string& file) {
    std::error_code fault;
    const fs::path path = fs::weakly_canonical(file, fault);
    const std::string name = path.filename();
    const std::size_t end = name.rfind("_mpath.");
    return (path.parent_path() / (end == std::string::npos ? name : name.substr(0, end))).string();
}

auto order_of(const Job& job) {
    return std::tuple(job.record.conditions.host, job.record.conditions.server_port,
                      job.record.results.thread_number);
}

/// More than half of the shorter one lies in the other.
bool overlap(const Job& a, const Job& b) {
    const Nanoseconds begin = std::max(a.began_utc(), b.began_utc());
    const Nanoseconds end = std::min(a.ended_utc(), b.ended_utc());
    const Nanoseconds shorter = std::min(a.record.results.measured(), b.record.results.measured());
    return end > begin && end - begin > shorter / 2;
}

bool belongs(const Run& run, const std::string& prefix, const Job& job) {
    const auto any = [&](auto is) { return std::any_of(run.jobs.begin(), run.jobs.end(), is); };
    return any([&](const Job& other) { return prefix_of(other.file) == prefix; }) ||
           (any([&](const Job& other) { return overlap(other, job); }) &&
            !any([&](const Job& other) { return order_of(other) == order_of(job); }));
}

} // namespace

Nanoseconds Job::utc_of(Nanoseconds monotonic) const {
    if (!intervals.empty()) {
        return intervals.front().utc - intervals.front().monotonic + monotonic; // modulo 2^64
    }
    if (!record.results.events.empty()) {
        const record::Event& event = record.results.events.front();
        return event.utc - event.monotonic + monotonic;
    }
    return record.written_utc - record.results.measured_until + monotonic;
}

Nanoseconds Job::began_utc() const {
    return record.results.measured_from == 0 ? 0 : utc_of(record.results.measured_from);
}

Nanoseconds Job::ended_utc() const {
    return record.results.measured_from == 0 ? 0 : utc_of(record.results.measured_until);
}

Result<Job> load_job(const std::string& file) {
    auto record = record::read_record(file);
    if (!record) {
        return tl::unexpected(record.error());
    }
    Job job{file, std::move(*record), {}, {}, {}};
    load_beside(job, job.record.intervals_file, record::read_intervals, job.intervals, "the time series");
    load_beside(job, job.record.visits_file, record::read_visits, job.visits, "every single visit");
    return job;
}

Run make_run(std::string name, std::vector<Job> jobs) {
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return order_of(a) < order_of(b); });
    return {std::move(name), std::move(jobs)};
}

std::vector<Run> runs_of(std::vector<Job> jobs) {
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return a.began_utc() < b.began_utc(); });
    std::vector<Run> runs;
    for (Job& job : jobs) {
        const std::string prefix = prefix_of(job.file);
        const auto same =
            std::find_if(runs.begin(), runs.end(), [&](const Run& run) { return belongs(run, prefix, job); });
        Run& run = same != runs.end() ? *same : runs.emplace_back(Run{fs::path(prefix).filename(), {}});
        run.jobs.push_back(std::move(job));
    }
    for (Run& run : runs) {
        run = make_run(std::move(run.name), std::move(run.jobs));
    }
    return runs;
}

} // namespace mpath::report
