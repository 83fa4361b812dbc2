// SPDX-License-Identifier: GPL-2.0-only
#include "report/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "report/steered_units.h"

namespace mpath::report {
namespace {

constexpr std::array kQuantities{Quantity::iops, Quantity::bandwidth, Quantity::response_time};
constexpr std::array kOperationsInOrder{Operation::read, Operation::write, Operation::trim, Operation::flush};

/// How far apart, as part of the time from the first to the last of them, the visits to two settings may be
/// on average for drift to cancel: visits settle after times of their own. In turn they would be half of it
/// apart.
constexpr double kSameTime = 0.05;

/// Logarithm of each quantity; not finite: not measured.
using Logs = std::array<double, kQuantities.size()>;

struct Pair {
    std::size_t reference = 0;
    std::size_t other = 0;
};

/// Whether a unit can be used for a pair, before one looks at operations.
struct Usable {
    std::vector<std::size_t> units; ///< indices
    LeftOut left_out;
    bool drift_cancels = false;
};

std::size_t index_of(Operation operation) {
    return static_cast<std::size_t>(operation);
}

double seconds(Nanoseconds time) {
    return static_cast<double>(time) / static_cast<double>(kSecond);
}

/// Of the visits of all jobs at one place of a pass.
Logs logs_at(const SettingInUnit& part, std::size_t place, std::size_t places, Operation operation) {
    double iops = 0;
    double bandwidth = 0;
    double count = 0;
    double sum = 0;
    for (std::size_t index = place; index < part.stops.size(); index += places) {
        const record::Visit& visit = *part.stops[index].visit;
        const record::Moments& steady = visit.steady[index_of(operation)];
        const double time = seconds(*visit.ended - *visit.settled);
        iops += static_cast<double>(steady.count) / time;
        bandwidth += static_cast<double>(steady.bytes) / time;
        count += static_cast<double>(steady.count);
        sum += static_cast<double>(steady.sum);
    }
    return {std::log(iops), std::log(bandwidth), std::log(sum / count)};
}

/// Of one setting in one unit: means over the places, which cancel a drift where the places are mirrored.
Logs logs_of(const SteeredUnits& units, std::size_t unit, std::size_t setting, Operation operation) {
    const std::size_t places = units.places(setting);
    Logs means{};
    for (std::size_t place = 0; place < places; ++place) {
        const Logs logs = logs_at(units.at(unit, setting), place, places, operation);
        for (std::size_t quantity = 0; quantity < logs.size(); ++quantity) {
            means[quantity] += logs[quantity] / static_cast<double>(places);
        }
    }
    return means;
}

/// Middle of the steady time of one job's stops, on average, nanoseconds.
double middle_of(std::span<const Stop> stops) {
    double middle = 0;
    for (const Stop& stop : stops) {
        const auto settled = static_cast<double>(*stop.visit->settled);
        middle += (settled + static_cast<double>(*stop.visit->ended)) / 2 / static_cast<double>(stops.size());
    }
    return middle;
}

/// How far the two are apart on average in one job's unit, as part of the time that both take.
double distance(std::span<const Stop> reference, std::span<const Stop> other) {
    const Nanoseconds first = std::min(reference.front().visit->began, other.front().visit->began);
    const Nanoseconds last = std::max(*reference.back().visit->ended, *other.back().visit->ended);
    return std::abs(middle_of(other) - middle_of(reference)) / static_cast<double>(last - first);
}

/// Job by job, because those of several hosts have different clocks.
bool drift_cancels(const SteeredUnits& units, const Pair& pair, std::span<const std::size_t> used) {
    double distances = 0;
    double count = 0;
    for (const std::size_t unit : used) {
        const std::span<const Stop> reference = units.at(unit, pair.reference).stops;
        const std::span<const Stop> other = units.at(unit, pair.other).stops;
        const std::size_t jobs = reference.size() / units.places(pair.reference);
        for (std::size_t job = 0; job < jobs; ++job) {
            const std::size_t references = units.places(pair.reference);
            const std::size_t others = units.places(pair.other);
            distances += distance(reference.subspan(job * references, references),
                                  other.subspan(job * others, others));
            ++count;
        }
    }
    return count > 0 && distances / count <= kSameTime;
}

Usable usable_units(const SteeredUnits& units, const Pair& pair) {
    Usable usable;
    usable.left_out.missing_visits = units.missing_visits();
    for (std::size_t unit = 0; unit < units.units().size(); ++unit) {
        const SettingInUnit& reference = units.at(unit, pair.reference);
        const SettingInUnit& other = units.at(unit, pair.other);
        const std::uint64_t disturbed = reference.disturbed + other.disturbed;
        usable.left_out.disturbed_visits += disturbed;
        if (!reference.complete || !other.complete) {
            ++usable.left_out.incomplete_units;
        } else if (disturbed > 0) {
            ++usable.left_out.disturbed_units;
        } else {
            usable.units.push_back(unit);
        }
    }
    usable.drift_cancels = drift_cancels(units, pair, usable.units);
    return usable;
}

/// Steady I/O of both settings together, in whatever unit.
record::Tally total_of(const SteeredUnits& units, const Pair& pair, Operation operation) {
    record::Tally total;
    for (std::size_t unit = 0; unit < units.units().size(); ++unit) {
        for (const std::size_t setting : {pair.reference, pair.other}) {
            for (const Stop& stop : units.at(unit, setting).stops) {
                total.add(stop.visit->steady[index_of(operation)]);
            }
        }
    }
    return total;
}

double exp_of_mean(std::span<const double> logs) {
    return logs.empty() ? 0 : std::exp(mean(logs));
}

/// Of one operation, both settings in each unit that can be used.
struct UnitLogs {
    std::uint64_t unit = 0;
    Logs reference{};
    Logs other{};
};

Comparison compare_one(Comparison comparison, std::span<const UnitLogs> units) {
    const auto quantity = static_cast<std::size_t>(comparison.quantity);
    std::vector<double> references;
    std::vector<double> others;
    std::vector<double> ratios;
    for (const UnitLogs& unit : units) {
        const double reference = unit.reference[quantity];
        const double other = unit.other[quantity];
        if (!std::isfinite(reference) || !std::isfinite(other)) {
            ++comparison.left_out.units_without_io;
            continue;
        }
        references.push_back(reference);
        others.push_back(other);
        ratios.push_back(other - reference);
        comparison.units.push_back({unit.unit, other - reference});
    }
    comparison.estimate = estimate(ratios);
    comparison.reference_value = exp_of_mean(references);
    comparison.other_value = exp_of_mean(others);
    return comparison;
}

void compare_pair(const SteeredUnits& units, const Pair& pair, std::vector<Comparison>& comparisons) {
    const Usable usable = usable_units(units, pair);
    for (const Operation operation : kOperationsInOrder) {
        const record::Tally total = total_of(units, pair, operation);
        if (total.count == 0) {
            continue;
        }
        std::vector<UnitLogs> logs;
        for (const std::size_t unit : usable.units) {
            logs.push_back({units.units()[unit], logs_of(units, unit, pair.reference, operation),
                            logs_of(units, unit, pair.other, operation)});
        }
        for (const Quantity quantity : kQuantities) {
            if (quantity == Quantity::bandwidth && total.bytes == 0) {
                continue;
            }
            Comparison comparison;
            comparison.reference = units.settings()[pair.reference];
            comparison.other = units.settings()[pair.other];
            comparison.operation = operation;
            comparison.quantity = quantity;
            comparison.left_out = usable.left_out;
            comparison.drift_cancels = usable.drift_cancels;
            comparisons.push_back(compare_one(std::move(comparison), logs));
        }
    }
}

} // namespace

std::string_view to_string(Quantity quantity) {
    switch (quantity) {
    case Quantity::iops:
        return "IOPS";
    case Quantity::bandwidth:
        return "bandwidth";
    case Quantity::response_time:
        return "response time";
    }
    return "unknown";
}

std::vector<Comparison> compare(std::span<const record::Visits> jobs, std::string_view reference) {
    const SteeredUnits units(jobs);
    const std::vector<std::string>& settings = units.settings();
    const auto known =
        reference.empty() ? settings.begin() : std::find(settings.begin(), settings.end(), reference);
    std::vector<Comparison> comparisons;
    if (known == settings.end()) {
        return comparisons;
    }
    const auto first = static_cast<std::size_t>(known - settings.begin());
    for (std::size_t setting = 0; setting < settings.size(); ++setting) {
        if (setting != first) {
            compare_pair(units, {first, setting}, comparisons);
        }
    }
    return comparisons;
}

} // namespace mpath::report
