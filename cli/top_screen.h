// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/top_view.h"

namespace mpath::cli {

/// What is on the screen beside the numbers.
struct TopScreen {
    std::size_t lines = 24;
    std::size_t columns = 80;
    std::optional<std::size_t> chosen; ///< place of a job in the view; empty: all of them
    Nanoseconds interval = kSecond;
    std::vector<std::string> events; ///< the newest last
    std::string message;             ///< what became of the last key
    bool keys = true;                ///< somebody can press them
};

/// Exactly screen.lines lines, none wider than screen.columns. When the jobs do not fit, the chosen one is
/// among those shown.
std::vector<std::string> render_top(const TopView& view, const TopScreen& screen);

} // namespace mpath::cli
