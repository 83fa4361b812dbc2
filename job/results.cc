// SPDX-License-Identifier: GPL-2.0-only
#include "job/results.h"

#include <algorithm>

#include "live/snapshot.h"
#include "record/table.h"

namespace mpath::job {
namespace {

record::JobReport merged(const std::vector<const Job*>& jobs) {
    record::JobReport sum = live::snapshot(jobs.front()->slot(), live::kLastActivity);
    for (std::size_t i = 1; i < jobs.size(); ++i) {
        record::merge(sum, live::snapshot(jobs[i]->slot(), live::kLastActivity));
    }
    return sum;
}

} // namespace

void render_table(const std::vector<const Job*>& jobs, const std::function<void(const std::string&)>& line) {
    const std::string text = record::render_table(merged(jobs));
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        line(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

std::vector<std::string> result_names(const std::vector<const Job*>& jobs) {
    std::vector<std::string> names{"mpath"};
    for (const record::PathResult& path : merged(jobs).result.paths) {
        names.push_back("mpath." + path.name);
        for (const std::string_view operation : record::kOperationNames) {
            names.push_back(fmt::format("mpath.{}.{}", path.name, operation));
        }
        names.push_back(fmt::format("mpath.{}.requeue", path.name));
    }
    return names;
}

std::vector<std::string> result_values(const std::vector<const Job*>& jobs) {
    const record::JobReport report = merged(jobs);
    std::vector<std::string> values{record::job_summary(report.result)};
    for (const record::PathResult& path : report.result.paths) {
        values.push_back(record::path_summary(path, report.result.measured()));
        const record::OperationResults all = path.operations();
        for (const record::OperationResult& operation : all.operations) {
            values.push_back(record::operation_summary(operation));
        }
        values.push_back(record::requeue_summary(path));
    }
    return values;
}

} // namespace mpath::job
