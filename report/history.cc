// SPDX-License-Identifier: GPL-2.0-only
#include "report/history.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "record/text.h"
#include "record/units.h"

namespace mpath::report {
namespace {

/// A fill may leave the tail that is no whole block of its job.
constexpr double kWhole = 0.99;

const record::PathConditions* first_path(const Block& block) {
    return block.report.conditions.empty() ? nullptr : &block.report.conditions.front();
}

bool same_device(const Block& a, const Block& b) {
    const record::PathConditions* of_a = first_path(a);
    const record::PathConditions* of_b = first_path(b);
    return of_a != nullptr && of_b != nullptr && of_a->device && of_a->device == of_b->device;
}

Nanoseconds ended_utc(const Block& block) {
    Nanoseconds latest = 0;
    for (const Job* job : block.jobs()) {
        latest = std::max(latest, job->ended_utc());
    }
    return latest;
}

Nanoseconds began_utc(const Block& block) {
    Nanoseconds earliest = 0;
    for (const Job* job : block.jobs()) {
        const Nanoseconds began = job->began_utc();
        earliest = earliest == 0 || (began != 0 && began < earliest) ? began : earliest;
    }
    return earliest;
}

bool is_fill(const Block& block) {
    const std::optional<std::uint64_t> size = first_path(block)->device_bytes;
    return size && *size != 0 &&
           static_cast<double>(block.report.result.written.sequential) >= kWhole * static_cast<double>(*size);
}

std::string age_text(Nanoseconds age) {
    const std::uint64_t minutes = age / (60 * kSecond);
    if (minutes == 0) {
        return fmt::format("{} s", age / kSecond);
    }
    return minutes < 120 ? fmt::format("{} min", minutes) : fmt::format("{} h", minutes / 60);
}

std::string bytes_text(std::uint64_t bytes) {
    const std::string rate = record::format_rate(static_cast<double>(bytes));
    return rate.substr(0, rate.size() - 2); // without "/s"
}

} // namespace

History history_of(const Block& block, std::span<const Block> blocks) {
    const Nanoseconds began = began_utc(block);
    std::vector<const Block*> earlier;
    for (const Block& other : blocks) {
        if (!other.is_sum && same_device(block, other) && ended_utc(other) != 0 &&
            ended_utc(other) <= began) {
            earlier.push_back(&other);
        }
    }
    std::stable_sort(earlier.begin(), earlier.end(),
                     [](const Block* a, const Block* b) { return ended_utc(*a) < ended_utc(*b); });
    History history;
    for (const Block* other : earlier) {
        history.told = true;
        if (is_fill(*other)) {
            history.fill = History::Fill{other->report.result.name, ended_utc(*other)};
            history.written = history.sequential = history.small_random = 0;
        } else {
            const record::WrittenResult& written = other->report.result.written;
            history.written += written.total;
            history.sequential += written.sequential;
            history.small_random += written.small_random;
        }
    }
    return history;
}

std::string history_line(const Block& block, const History& history) {
    if (block.report.result.response.of(Operation::read).count() == 0) {
        return "";
    }
    if (!history.told) {
        return "written before: not known, no earlier record of this device was given\n";
    }
    const std::string what =
        fmt::format("{} written, {} of it sequential and {} small random", bytes_text(history.written),
                    bytes_text(history.sequential), bytes_text(history.small_random));
    if (!history.fill) {
        return fmt::format("written before, by the records given: {}; none of them filled the device\n",
                           what);
    }
    const Nanoseconds began = began_utc(block);
    return fmt::format("filled by {} {} before; since then, by the records given: {}\n",
                       record::printable(history.fill->job), age_text(began - history.fill->ended_utc), what);
}

} // namespace mpath::report
