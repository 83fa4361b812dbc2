// SPDX-License-Identifier: GPL-2.0-only
// Rows of cells under their heads, for a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/results.h"

namespace mpath::record {

/// How a column looks. The first column holds names, which give way when a row is too wide; numbers never do.
struct GridColumn {
    const char* head;
    bool is_number;
    unsigned widens; ///< which column gets what room is left, from 1; 0: never
};

class Grid {
public:
    explicit Grid(std::span<const GridColumn> columns);

    /// As many cells as there are columns.
    void add_row(std::vector<std::string> cells);
    /// A line across all columns.
    void add_line(std::string text);
    /// No line is wider than kTableWidth.
    [[nodiscard]] std::string text() const;

private:
    struct Row {
        std::vector<std::string> cells; ///< empty: a line
        std::string line;
    };

    [[nodiscard]] std::vector<std::size_t> widths() const;
    [[nodiscard]] std::vector<std::size_t> gaps(const std::vector<std::size_t>& widths) const;
    [[nodiscard]] std::string text_of(const Row& row, const std::vector<std::size_t>& widths,
                                      const std::vector<std::size_t>& gaps) const;

    std::span<const GridColumn> columns_;
    std::vector<Row> rows_;
};

/// The cells that every table has for an operation: IOPS, bandwidth, mean, p50, p99, p99.9, max. Counts
/// become rates over `seconds`; 0: they have none.
inline constexpr std::size_t kNumberCells = 7;
std::vector<std::string> number_cells(const OperationResult& result, double seconds);

} // namespace mpath::record
