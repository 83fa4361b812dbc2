// SPDX-License-Identifier: GPL-2.0-only
#include "report/csv.h"

#include <fmt/format.h>

#include "record/path_log.h"

namespace mpath::report {
namespace {

constexpr const char* kColumns =
    "run,job,host,setting,path,operation,seconds,count,bytes,iops,bandwidth,share,mean_ns,p50_ns,p99_ns,"
    "p999_ns,max_ns\n";

std::string number(std::optional<double> value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

std::string whole(record::Maybe value) {
    return value ? fmt::format("{}", *value) : "";
}

std::string line_of(const Block& block, const Row& row) {
    const auto& moments = row.result.moments;
    const record::Maybe max = row.result.count() == 0 ? record::Maybe() : moments.max;
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", record::csv_field(block.run),
                       record::csv_field(block.report.result.name), record::csv_field(block.host),
                       record::csv_field(row.setting.empty() ? "all" : row.setting),
                       record::csv_field(row.path.empty() ? "all" : row.path),
                       record::kOperationNames[static_cast<std::size_t>(row.operation)],
                       number(row.seconds > 0 ? std::optional(row.seconds) : std::nullopt, 3), moments.count,
                       moments.bytes, number(row.iops(), 3), number(row.bandwidth(), 1), number(row.share, 6),
                       number(row.mean(), 1), whole(row.result.percentile(50)),
                       whole(row.result.percentile(99)), whole(row.result.percentile(99.9)), whole(max));
}

} // namespace

std::string to_csv(const Report& report) {
    std::string text = kColumns;
    for (const BlockReport& one : report.blocks) {
        for (const Row& row : one.rows) {
            text += line_of(one.block, row);
        }
    }
    return text;
}

} // namespace mpath::report
