// SPDX-License-Identifier: GPL-2.0-only
// The visits of jobs that were steered together, sorted into the passes of their schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "record/visits_file.h"

namespace mpath::report {

/// A visit to which the schedule led.
struct Stop {
    std::size_t unit = 0; ///< index of its pass among those that were seen
    std::size_t setting = 0;
    std::size_t job = 0;
    const record::Visit* visit = nullptr;
};

/// The stops of all jobs at one setting in one unit. Where it is complete each job has made as many as the
/// schedule has in a pass, and the one of job j at place p is stops[j * places + p].
struct SettingInUnit {
    std::span<const Stop> stops; ///< by job, then by time
    bool complete = false;
    std::uint64_t disturbed = 0; ///< stops that a path event disturbed
};

/// Refers to the visits it was made from.
class SteeredUnits {
public:
    explicit SteeredUnits(std::span<const record::Visits> jobs);

    /// In the order in which the first job that was in them first came to each.
    [[nodiscard]] const std::vector<std::string>& settings() const { return settings_; }
    /// Numbers of the units of which any job has a visit, rising.
    [[nodiscard]] const std::vector<std::uint64_t>& units() const { return units_; }
    [[nodiscard]] const SettingInUnit& at(std::size_t unit, std::size_t setting) const {
        return parts_[unit * settings_.size() + setting];
    }
    /// Stops at a setting in a pass of the schedule: the most that a job has made in a unit.
    [[nodiscard]] std::size_t places(std::size_t setting) const { return places_[setting]; }
    /// Visits that have no line, of all jobs.
    [[nodiscard]] std::uint64_t missing_visits() const { return missing_visits_; }

private:
    void collect(std::span<const record::Visits> jobs);
    void sort_into_units();
    void learn_places();
    void learn_lengths();
    void judge(std::size_t jobs);

    [[nodiscard]] std::size_t length_index(std::size_t setting, std::size_t place) const;
    [[nodiscard]] bool is_complete(std::span<const Stop> stops, std::size_t setting, std::size_t jobs) const;

    std::vector<Stop> stops_; ///< by unit, setting, job and time
    std::vector<std::string> settings_;
    std::vector<std::uint64_t> units_;
    std::vector<SettingInUnit> parts_;
    std::vector<std::size_t> places_;
    std::vector<Nanoseconds> lengths_; ///< usual length of the stops at each setting and place
    std::size_t most_places_ = 0;
    std::uint64_t missing_visits_ = 0;
};

} // namespace mpath::report
