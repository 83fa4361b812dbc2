// SPDX-License-Identifier: GPL-2.0-only
#include "report/spread.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "record/text.h"
#include "record/units.h"

namespace mpath::report {
namespace {

constexpr std::size_t kQuantities = 4; // IOPS, bandwidth, mean, p99
constexpr std::size_t kLongestName = 32;
using Format = std::string (*)(double);
constexpr std::array<Format, kQuantities> kFormats{record::format_count, record::format_rate,
                                                   record::format_time, record::format_time};

using Cells = std::vector<std::string>;
using Samples = std::array<std::vector<double>, kQuantities>;

double middle(const std::vector<double>& sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

void add_sample(Samples& samples, const record::OperationResult& operation, Nanoseconds measured,
                bool moves_data) {
    if (measured == 0) {
        return;
    }
    const double seconds = static_cast<double>(measured) / static_cast<double>(kSecond);
    samples[0].push_back(static_cast<double>(operation.moments.count) / seconds);
    if (moves_data) {
        samples[1].push_back(static_cast<double>(operation.moments.bytes) / seconds);
    }
    if (const auto p99 = operation.percentile(99)) {
        samples[2].push_back(operation.moments.mean());
        samples[3].push_back(static_cast<double>(*p99));
    }
}

void add_rows(std::vector<Cells>& rows, const std::string& path, std::string_view operation,
              const Samples& samples) {
    constexpr std::array kNames{"min", "median", "max"};
    for (std::size_t row = 0; row < kNames.size(); ++row) {
        Cells cells{row == 0 ? path : "", row == 0 ? std::string(operation) : "", kNames[row]};
        for (std::size_t i = 0; i < kQuantities; ++i) {
            std::vector<double> values = samples[i];
            std::sort(values.begin(), values.end());
            if (values.empty()) {
                cells.emplace_back(record::kAbsent);
            } else {
                cells.push_back(kFormats[i](row == 0   ? values.front()
                                            : row == 1 ? middle(values)
                                                       : values.back()));
            }
        }
        rows.push_back(std::move(cells));
    }
}

std::string table(const std::vector<Cells>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const Cells& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], record::text_width(row[i]));
        }
    }
    std::string text;
    for (const Cells& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += i == 0 ? "" : "  ";
            line += i < 3 ? record::pad_right(row[i], widths[i]) : record::pad_left(row[i], widths[i]);
        }
        text += line + "\n";
    }
    return text;
}

/// The same block in each run that has it.
std::vector<const Block*> find_all(const Block& wanted, std::span<const std::vector<Block>> all) {
    std::vector<const Block*> found;
    for (const std::vector<Block>& blocks : all) {
        for (const Block& block : blocks) {
            if (same_conditions(block, wanted)) {
                found.push_back(&block);
            }
        }
    }
    return found;
}

std::string block_spread(const Block& merged, const std::vector<const Block*>& repeats) {
    std::vector<Cells> rows{{"path", "op", "", "IOPS", "BW", "mean", "p99"}};
    for (const record::PathResult& path : merged.report.result.paths) {
        const record::OperationResults sums = path.operations();
        for (std::size_t operation = 0; operation < record::kOperationNames.size(); ++operation) {
            if (sums.operations[operation].count() == 0) {
                continue;
            }
            Samples samples;
            for (const Block* block : repeats) {
                for (const record::PathResult& one : block->report.result.paths) {
                    if (one.name == path.name) {
                        add_sample(samples, one.operations().operations[operation],
                                   block->report.result.measured(),
                                   sums.operations[operation].moments.bytes != 0);
                    }
                }
            }
            add_rows(rows, record::clip_end(record::printable(path.name), kLongestName),
                     record::kOperationNames[operation], samples);
        }
    }
    const std::string where = merged.host.empty() ? "" : " on " + merged.host;
    return fmt::format("{}{}: spread over {} repeats\n", record::printable(merged.report.result.name), where,
                       repeats.size()) +
           table(rows);
}

} // namespace

std::string render_spread(const Block& merged, std::span<const std::vector<Block>> all) {
    const std::vector<const Block*> repeats = find_all(merged, all);
    return repeats.size() < 2 ? "" : block_spread(merged, repeats);
}

} // namespace mpath::report
