// SPDX-License-Identifier: GPL-2.0-only
#include "record/table_grid.h"

#include <algorithm>
#include <numeric>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::record {

namespace {

constexpr std::size_t kShortestName = 4; ///< what is left of a name that has to give way

std::size_t total(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
}

} // namespace

Grid::Grid(std::span<const GridColumn> columns) : columns_(columns) {
    std::vector<std::string> heads;
    for (const GridColumn& column : columns) {
        heads.emplace_back(column.head);
    }
    add_row(std::move(heads));
}

void Grid::add_row(std::vector<std::string> cells) {
    rows_.push_back({std::move(cells), {}});
}

void Grid::add_line(std::string text) {
    rows_.push_back({{}, std::move(text)});
}

std::vector<std::size_t> Grid::widths() const {
    std::vector<std::size_t> widths(columns_.size());
    for (const Row& row : rows_) {
        for (std::size_t column = 0; column < row.cells.size(); ++column) {
            widths[column] = std::max(widths[column], text_width(row.cells[column]));
        }
    }
    const std::size_t width = total(widths) + columns_.size() - 1;
    if (width > kTableWidth) {
        widths[0] -= std::min(width - kTableWidth, widths[0] - std::min(widths[0], kShortestName));
    }
    return widths;
}

std::vector<std::size_t> Grid::gaps(const std::vector<std::size_t>& widths) const {
    std::vector<std::size_t> gaps(columns_.size(), 1);
    std::size_t width = total(widths) + columns_.size() - 1;
    for (unsigned turn = 1; turn <= columns_.size() && width < kTableWidth; ++turn) {
        const auto next = std::find_if(columns_.begin(), columns_.end(),
                                       [turn](const GridColumn& column) { return column.widens == turn; });
        if (next != columns_.end()) {
            ++gaps[static_cast<std::size_t>(next - columns_.begin())];
            ++width;
        }
    }
    return gaps;
}

std::string Grid::text() const {
    const std::vector<std::size_t> widths = this->widths();
    const std::vector<std::size_t> gaps = this->gaps(widths);
    std::string text;
    for (const Row& row : rows_) {
        text += text_of(row, widths, gaps);
    }
    return text;
}

std::string Grid::text_of(const Row& row, const std::vector<std::size_t>& widths,
                          const std::vector<std::size_t>& gaps) const {
    if (row.cells.empty()) {
        return clip_end(row.line, kTableWidth) + "\n";
    }
    std::string text;
    for (std::size_t column = 0; column < row.cells.size(); ++column) {
        const std::string cell = clip_end(row.cells[column], widths[column]);
        text += column == 0 ? "" : std::string(gaps[column], ' ');
        text += columns_[column].is_number ? pad_left(cell, widths[column]) : pad_right(cell, widths[column]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

std::vector<std::string> number_cells(const OperationResult& result, double seconds) {
    const Moments& moments = result.moments;
    const bool any = moments.count != 0;
    const auto per_second = [&](std::uint64_t amount, auto format) -> std::string {
        return seconds > 0 ? format(static_cast<double>(amount) / seconds) : kAbsent;
    };
    const auto time = [&](double percent) -> std::string {
        const Maybe value = result.percentile(percent);
        return value ? format_time(static_cast<double>(*value)) : kAbsent;
    };
    return {per_second(moments.count, format_count),
            any && moments.bytes == 0 ? kAbsent : per_second(moments.bytes, format_rate),
            any ? format_time(moments.mean()) : kAbsent,
            time(50),
            time(99),
            time(99.9),
            any ? format_time(static_cast<double>(moments.max)) : kAbsent};
}

} // namespace mpath::record
