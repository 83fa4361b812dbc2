// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mpath::cli {

/// What stands in a cell whose value is not known.
inline constexpr const char* kAbsent = "–";

/// Lines of cells, each column as wide as its widest cell.
class TextTable {
public:
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    /// At least one row must have been added. Each line begins with `indent`.
    [[nodiscard]] std::string text(const std::string& indent = "") const {
        std::vector<std::size_t> widths(rows_.front().size());
        for (const auto& row : rows_) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                widths[i] = std::max(widths[i], columns(row[i]));
            }
        }
        std::string lines;
        for (const auto& row : rows_) {
            std::string line = indent;
            for (std::size_t i = 0; i < row.size(); ++i) {
                line += row[i];
                line.append(i + 1 < row.size() ? widths[i] - columns(row[i]) + 2 : 0, ' ');
            }
            lines += line + '\n';
        }
        return lines;
    }

private:
    /// The dash of an absent value is one column and three bytes.
    static std::size_t columns(const std::string& cell) { return cell == kAbsent ? 1 : cell.size(); }

    std::vector<std::vector<std::string>> rows_;
};

} // namespace mpath::cli
