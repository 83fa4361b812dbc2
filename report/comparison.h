// SPDX-License-Identifier: GPL-2.0-only
// Settings that were visited in one run, compared unit by unit; docs/comparison.md says what the numbers
// mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "path/request.h"
#include "record/visits_file.h"
#include "report/statistics.h"

namespace mpath::report {

enum class Quantity : std::uint8_t {
    iops,          ///< steady I/Os a second, added up over the jobs
    bandwidth,     ///< steady bytes a second, likewise
    response_time, ///< mean of all the jobs' steady I/Os, nanoseconds
};

std::string_view to_string(Quantity quantity);

/// What a comparison of two settings did without, and why. Each unit is left out for the first of the
/// reasons, in this order.
struct LeftOut {
    std::uint64_t incomplete_units =
        0; ///< a stop of a job at one of the two is missing, cut short or unsettled
    std::uint64_t disturbed_units = 0; ///< a path event fell into a visit to one of the two
    std::uint64_t units_without_io =
        0; ///< a stop without this operation: no number where nothing was measured
    /// Visits to one of the two that were disturbed, also in units that were incomplete.
    std::uint64_t disturbed_visits = 0;
    std::uint64_t missing_visits = 0; ///< of all settings, that have no line; their units are incomplete

    bool operator==(const LeftOut&) const = default;
};

/// What one unit says: the difference of the two settings' means of the logarithms of their visits' values.
struct UnitRatio {
    std::uint64_t unit = 0;
    double log_ratio = 0;

    bool operator==(const UnitRatio&) const = default;
};

/// One setting beside the reference.
struct Comparison {
    std::string reference;
    std::string other;
    Operation operation = Operation::read;
    Quantity quantity = Quantity::iops;
    Estimate estimate;            ///< of other / reference
    double reference_value = 0;   ///< geometric mean over the units; 0 without units
    double other_value = 0;       ///< likewise
    std::vector<UnitRatio> units; ///< those used, in their order
    LeftOut left_out;
    /// In the units used the visits to the two were on average at the same time, as `steer_order=abba` has
    /// them: what rises or falls steadily cancels. False without units.
    bool drift_cancels = false;
};

/// Compares each setting with the reference, for every operation of which one of the two has steady I/O. The
/// jobs are those of one block: they had one schedule and one clock, so their units are the same; one job
/// that lacks a unit makes it incomplete. Only visits that the schedule made are used. `reference` names a
/// setting; empty, it is the first that the first job visited. In the order of settings, operations and
/// quantities; bandwidth only of operations that moved bytes. Empty when there are fewer than two settings,
/// or when none has the reference's name.
[[nodiscard]] std::vector<Comparison> compare(std::span<const record::Visits> jobs,
                                              std::string_view reference = {});

} // namespace mpath::report
