// SPDX-License-Identifier: GPL-2.0-only
// What fio-mpath top knows at one moment, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "live/running_block.h"
#include "path/state.h"
#include "record/events.h"
#include "record/intervals.h"
#include "record/visit.h"

namespace mpath::cli {

struct TopPath {
    std::string name;
    std::optional<PathState> state;
    bool enabled = true; ///< the current setting may use it
};

struct TopJob {
    std::uint64_t run = 0; ///< pid of fio
    std::uint32_t number = 0;
    std::string name;
    std::string label; ///< the name, with #number where others of this fio have the same
    live::JobStanding standing = live::JobStanding::prepared;
    std::string setting;
    std::string policy;
    bool has_schedule = false;
    std::optional<std::uint64_t> visit;      ///< number of the current one
    std::optional<record::VisitCause> cause; ///< of that
    bool asked = false;                      ///< for something it has not followed yet
    std::vector<TopPath> paths;
    /// Since the view before; empty: nothing is measured, or not yet. As long as `paths`.
    std::optional<record::Interval> interval;
    std::vector<record::Event> events; ///< since the view before
    bool told = false;                 ///< it had ended already in the view before
};

struct TopView {
    Nanoseconds utc = 0;
    std::vector<TopJob> jobs; ///< by fio, and in its order
};

/// "round-robin, by command" and the like; what a job does that has no setting in force.
std::string setting_text(const TopJob& job);

/// One operation on one path, or a path without I/O, in the columns of top_columns().
using TopRow = std::vector<std::string>;
const TopRow& top_columns();
std::vector<TopRow> top_rows(const TopJob& job);
/// Its cells side by side, in columns of these widths: words to the left, numbers to the right.
std::string row_text(const TopRow& row, std::span<const std::size_t> widths);

/// "23:59:58.123Z  seq  a  lost: the connection broke".
std::string event_line(const TopJob& job, const record::Event& event);

/// Lines of text for jobs that have something new to tell: with a head, if asked for, a line for each path
/// and operation, and for each event.
std::string plain_text(const TopView& view, bool with_head);

/// A JSON object a line, for the same jobs.
std::string json_lines(const TopView& view);

} // namespace mpath::cli
