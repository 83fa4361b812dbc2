// SPDX-License-Identifier: GPL-2.0-only
#include "report/rows.h"

namespace mpath::report {
namespace {

record::OperationResults in_setting(const record::PathResult& path, const std::string& setting) {
    if (setting.empty()) {
        return path.operations();
    }
    for (const record::SettingResult& one : path.settings) {
        if (one.name == setting) {
            return one.operations;
        }
    }
    return {};
}

void add_setting(std::vector<Row>& rows, const record::JobResult& job, const std::string& setting,
                 double seconds) {
    std::vector<record::OperationResults> of_paths;
    record::OperationResults all;
    for (const record::PathResult& path : job.paths) {
        all.merge(of_paths.emplace_back(in_setting(path, setting)));
    }
    for (std::size_t path = 0; path <= job.paths.size(); ++path) {
        const bool is_sum = path == job.paths.size();
        if (is_sum && path == 1) {
            break; // one path is all there is
        }
        for (std::size_t index = 0; index < kOperations; ++index) {
            const std::uint64_t whole = all.operations[index].count();
            if (whole == 0) {
                continue;
            }
            Row row{setting,
                    is_sum ? "" : job.paths[path].name,
                    static_cast<Operation>(index),
                    seconds,
                    is_sum ? all.operations[index] : of_paths[path].operations[index],
                    std::nullopt};
            if (!is_sum) {
                row.share = static_cast<double>(row.result.count()) / static_cast<double>(whole);
            }
            rows.push_back(std::move(row));
        }
    }
}

} // namespace

std::optional<double> Row::iops() const {
    return seconds > 0 ? std::optional(static_cast<double>(result.count()) / seconds) : std::nullopt;
}

std::optional<double> Row::bandwidth() const {
    const bool moves_data = operation != Operation::flush;
    return seconds > 0 && moves_data ? std::optional(static_cast<double>(result.moments.bytes) / seconds)
                                     : std::nullopt;
}

std::optional<double> Row::mean() const {
    return result.count() == 0 ? std::nullopt : std::optional(result.moments.mean());
}

std::vector<Row> rows_of(const Block& block) {
    const record::JobResult& job = block.report.result;
    std::vector<Row> rows;
    for (const record::SettingTime& setting : job.setting_times()) {
        if (setting.visits != 0) {
            add_setting(rows, job, setting.name, setting.seconds());
        }
    }
    if (job.has_several_settings()) {
        add_setting(rows, job, std::string(record::kTransition), 0);
        add_setting(rows, job, "", static_cast<double>(job.measured()) / static_cast<double>(kSecond));
    }
    return rows;
}

} // namespace mpath::report
