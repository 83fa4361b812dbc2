// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_screen.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "multipath/io_policy.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::cli {

namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kMostEvents = 5;

struct Body {
    std::string head;
    Lines lines;
    std::size_t chosen_begin = 0; ///< lines of the chosen job
    std::size_t chosen_end = 0;
};

bool is_live(const TopJob& job) {
    return job.standing == live::JobStanding::running;
}

/// Rows begin with the number that keys take.
std::vector<TopRow> numbered_rows(const TopJob& job) {
    std::vector<TopRow> rows = top_rows(job);
    std::size_t number = 0;
    for (TopRow& row : rows) {
        row[0] = row[0].empty() ? "" : fmt::format("{} {}", number++, row[0]);
    }
    return rows;
}

Body make_body(const TopView& view, const TopScreen& screen) {
    std::vector<std::vector<TopRow>> tables;
    TopRow columns = top_columns();
    columns[0] = "  " + columns[0];
    std::vector<std::size_t> widths;
    for (const std::string& column : columns) {
        widths.push_back(record::text_width(column));
    }
    for (const TopJob& job : view.jobs) {
        tables.push_back(is_live(job) ? numbered_rows(job) : std::vector<TopRow>{});
        for (const TopRow& row : tables.back()) {
            for (std::size_t column = 0; column < row.size(); ++column) {
                widths[column] = std::max(widths[column], record::text_width(row[column]));
            }
        }
    }
    Body body;
    body.head = "  " + row_text(columns, widths);
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
        const TopJob& job = view.jobs[i];
        const bool chosen = screen.chosen == i;
        body.chosen_begin = chosen ? body.lines.size() : body.chosen_begin;
        body.lines.push_back(fmt::format("{} {} {}: {}", chosen || !screen.chosen ? '>' : ' ', job.run,
                                         record::printable(job.label), setting_text(job)));
        for (const TopRow& row : tables[i]) {
            body.lines.push_back("  " + row_text(row, widths));
        }
        body.chosen_end = chosen ? body.lines.size() : body.chosen_end;
    }
    return body;
}

std::string title(const TopView& view, const TopScreen& screen) {
    std::set<std::uint64_t> runs;
    for (const TopJob& job : view.jobs) {
        runs.insert(job.run);
    }
    return fmt::format("fio-mpath top  {}  every {}  {} fio, {} job{}", record::utc_text(view.utc),
                       record::format_time(static_cast<double>(screen.interval)), runs.size(),
                       view.jobs.size(), view.jobs.size() == 1 ? "" : "s");
}

Lines key_lines() {
    std::string policies;
    std::size_t number = 1;
    for (const std::string_view name : multipath::io_policy_names()) {
        policies += fmt::format("{}{} {}", number == 1 ? "" : "  ", number, name);
        ++number;
    }
    return {policies, "j/k job  e/d enable/disable path  s schedule  q quit"};
}

} // namespace

std::vector<std::string> render_top(const TopView& view, const TopScreen& screen) {
    const Body body = make_body(view, screen);
    Lines foot;
    for (std::size_t i = screen.events.size() - std::min(screen.events.size(), kMostEvents);
         i < screen.events.size(); ++i) {
        foot.push_back(screen.events[i]);
    }
    foot.push_back(record::printable(screen.message));
    if (screen.keys) {
        for (std::string& line : key_lines()) {
            foot.push_back(std::move(line));
        }
    }

    Lines lines{title(view, screen), body.head};
    // On a low screen the oldest events give way first.
    const std::size_t room = screen.lines > lines.size() ? screen.lines - lines.size() : 0;
    while (!foot.empty() && foot.size() > room / 2) {
        foot.erase(foot.begin());
    }
    const std::size_t for_jobs = room - foot.size();
    std::size_t first = body.chosen_end > for_jobs ? body.chosen_end - for_jobs : 0;
    first = std::min(first, body.chosen_begin);
    for (std::size_t i = first; i < body.lines.size() && i < first + for_jobs; ++i) {
        lines.push_back(body.lines[i]);
    }
    lines.resize(screen.lines - std::min(screen.lines, foot.size()));
    lines.insert(lines.end(), foot.begin(), foot.end());
    lines.resize(screen.lines);
    for (std::string& line : lines) {
        line = record::clip_end(line, screen.columns);
    }
    return lines;
}

} // namespace mpath::cli
