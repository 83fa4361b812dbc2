// SPDX-License-Identifier: GPL-2.0-only
#include "record/failover_text.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

namespace mpath::record {

namespace {

constexpr std::size_t kLongestGapEventsTold = 8; ///< of kMostEventsTold
constexpr std::size_t kGapsNamed = 3;
constexpr std::size_t kWidestPathName = 20;
constexpr std::size_t kWidestJobName = 32;

std::string duration(Nanoseconds time) {
    return format_time(static_cast<double>(time));
}

std::string counted(std::uint64_t count, const char* thing) {
    return fmt::format("{} {}{}", format_exact_count(count), thing, count == 1 ? "" : "s");
}

std::string path_name(const JobResult& job, const Event& event) {
    return event.path < job.paths.size() ? clip_end(printable(job.paths[event.path].name), kWidestPathName)
                                         : "job";
}

/// The path, and of several jobs which one noticed it.
std::string where(const JobResult& job, const Event& event) {
    return event.job.empty()
               ? path_name(job, event)
               : path_name(job, event) + " of " + clip_end(printable(event.job), kWidestJobName);
}

std::string time_of_day(Nanoseconds utc) {
    const std::string text = utc_text(utc);
    return text.substr(text.find('T') + 1);
}

/// When, where, what, why.
std::string cause_of(const JobResult& job, const Event& event) {
    const double since =
        (static_cast<double>(event.monotonic) - static_cast<double>(job.measured_from)) / 1e9;
    std::string kind(to_string(event.kind));
    std::replace(kind.begin(), kind.end(), '_', ' ');
    return fmt::format("{}  {}  {}  {}: {}", time_of_day(event.utc),
                       job.measured_from == 0 ? kAbsent : fmt::format("{:+.3f}s", since), where(job, event),
                       kind, printable(event.text));
}

/// What it did to the I/O; empty when it did nothing that is known.
std::string effect_of(const Event& event) {
    std::vector<std::string> parts;
    if (event.detection) {
        parts.push_back("noticed after " + duration(*event.detection));
    }
    if (event.gap.value_or(0) != 0) {
        parts.push_back("failover gap " + duration(*event.gap));
    }
    if (event.requeues.value_or(0) != 0) {
        parts.push_back(format_exact_count(*event.requeues) + " requeued");
    }
    if (event.exposed_writes.value_or(0) != 0) {
        parts.push_back(counted(*event.exposed_writes, "exposed write"));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string lines_of(const JobResult& job, const Event& event) {
    const std::string cause = cause_of(job, event);
    const std::string effect = effect_of(event);
    const std::string both = effect.empty() ? cause : cause + "; " + effect;
    if (effect.empty() || text_width(both) <= kTableWidth) {
        return clip_end(both, kTableWidth) + "\n";
    }
    return clip_end(cause, kTableWidth) + "\n" + clip_end(std::string(15, ' ') + effect, kTableWidth) + "\n";
}

/// Those with the longest gaps first; events without a gap are left out.
std::vector<const Event*> by_gap(std::span<const Event> events) {
    std::vector<const Event*> with_gap;
    for (const Event& event : events) {
        if (event.gap.value_or(0) != 0) {
            with_gap.push_back(&event);
        }
    }
    std::stable_sort(with_gap.begin(), with_gap.end(),
                     [](const Event* a, const Event* b) { return *a->gap > *b->gap; });
    return with_gap;
}

/// In the order they happened.
std::vector<const Event*> told_events(std::span<const Event> events) {
    const std::size_t first =
        events.size() <= kMostEventsTold ? events.size() : kMostEventsTold - kLongestGapEventsTold;
    std::vector<const Event*> longest = by_gap(events.subspan(first));
    longest.resize(std::min(longest.size(), kLongestGapEventsTold));
    std::sort(longest.begin(), longest.end()); // they lie in one array in the order they happened
    std::vector<const Event*> told;
    for (const Event& event : events.first(first)) {
        told.push_back(&event);
    }
    told.insert(told.end(), longest.begin(), longest.end());
    return told;
}

std::string gaps_text(const JobResult& job) {
    const std::vector<const Event*> events = by_gap(job.events);
    if (events.empty()) {
        return "";
    }
    std::vector<std::string> gaps;
    for (const Event* event : std::span(events).first(std::min(events.size(), kGapsNamed))) {
        gaps.push_back(fmt::format("{} ({})", duration(*event->gap), where(job, *event)));
    }
    return fmt::format("longest gap{} {}", gaps.size() == 1 ? "" : "s", fmt::join(gaps, ", "));
}

std::string response_text(const JobResult& job) {
    std::uint64_t longest = 0;
    for (const OperationResult& operation : job.response.operations) {
        longest = std::max(longest, operation.moments.max);
    }
    return longest == 0 ? "" : "longest response time " + duration(longest);
}

std::string delay_text(const DelayResult& delay) {
    const Maybe median = delay.percentile(50);
    return median
               ? fmt::format("requeue delay p50 {}, max {}", duration(*median), duration(delay.moments.max))
               : "";
}

std::string held_text(const HoldResult& held) {
    return held.count == 0
               ? ""
               : fmt::format("{} held, at most {}", counted(held.count, "I/O"), duration(held.max));
}

std::string count_text(std::uint64_t count, const std::string& text) {
    return count == 0 ? "" : text;
}

/// Wrapped between the parts; what is empty is left out.
std::string paragraph(std::span<const std::string> parts) {
    std::string text;
    std::string line;
    for (const std::string& part : parts) {
        if (part.empty()) {
            continue;
        }
        if (!line.empty() && text_width(line) + 3 + text_width(part) > kTableWidth) {
            text += clip_end(line + ";", kTableWidth) + "\n";
            line = "  ";
        } else if (!line.empty()) {
            line += "; ";
        }
        line += part;
    }
    return line.empty() ? "" : text + clip_end(line, kTableWidth) + "\n";
}

} // namespace

std::string event_lines(const JobResult& job) {
    std::string text;
    const std::vector<const Event*> told = told_events(job.events);
    for (const Event* event : told) {
        text += lines_of(job, *event);
    }
    if (const std::uint64_t rest = job.events.size() - told.size() + job.events_dropped; rest != 0) {
        text += fmt::format("and {}\n", counted(rest, "further event"));
    }
    return text;
}

std::string failover_lines(const JobResult& job) {
    DelayResult delay;
    std::uint64_t retries = 0;
    std::uint64_t exposed = 0;
    for (const PathResult& path : job.paths) {
        if (path.requeue_delay) {
            delay.merge(*path.requeue_delay);
        }
        retries += path.retries.value_or(0);
        exposed += path.exposed_writes.value_or(0);
    }
    const HoldResult held = job.held.value_or(HoldResult{});
    const std::string gaps = gaps_text(job);
    if (gaps.empty() && delay.count() == 0 && held == HoldResult{} && retries == 0 && exposed == 0) {
        return "";
    }
    const std::array parts{
        gaps,
        response_text(job),
        delay_text(delay),
        held_text(held),
        count_text(held.failed, counted(held.failed, "I/O") + " failed without a path"),
        count_text(retries, fmt::format("{} retried on the same path", counted(retries, "I/O"))),
        count_text(exposed, counted(exposed, "exposed write"))};
    return paragraph(parts);
}

} // namespace mpath::record
