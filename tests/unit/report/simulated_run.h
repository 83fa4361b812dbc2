// SPDX-License-Identifier: GPL-2.0-only
// Steered runs of which the truth is known.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "multipath/steer_schedule.h"
#include "record/visits_file.h"

namespace mpath::report {

/// The same numbers from the same seed with every standard library, whose distributions are their own.
class Random {
public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    /// At least 0, below 1.
    double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
    /// Mean 0, variance 1 (Marsaglia's polar method).
    double normal();

private:
    std::mt19937_64 bits_;
    double spare_ = 0;
    bool has_spare_ = false;
};

/// A device, the settings it is measured in, and what disturbs the measurement. Levels are logarithms of its
/// rate: 0.02 is 2 %. Times are in visits; all visits are planned to be equally long.
struct Scenario {
    multipath::SteerOrder order = multipath::SteerOrder::abba;
    std::size_t settings = 2; ///< "a", "b", "c" ...
    std::uint64_t units = 10;
    std::size_t jobs = 1;
    double effect = 0; ///< true level of every setting but the first

    double visit_noise = 0.02; ///< standard deviation, independent from visit to visit and job to job
    /// Common to all settings and jobs, as the device is at the time:
    double slowdown = 0;        ///< part of the rate that is lost by the end of the run, linearly
    double walk = 0;            ///< standard deviation of a random walk's steps, one a visit
    double correlated = 0;      ///< standard deviation of first-order autoregressive noise ...
    double correlation = 1;     ///< ... and its correlation time
    double swing = 0;           ///< amplitude of a sine of random phase ...
    double swing_period = 4;    ///< ... and its period
    double stall_chance = 0;    ///< of each visit of a job ...
    double stall = 0;           ///< ... to have this level more
    bool first_stalls = true;   ///< the first setting as well
    std::uint64_t seed = 8'128; ///< of the order `shuffle`
};

inline constexpr Nanoseconds kSimulatedVisit = 8 * kSecond;
/// Of that, the transition.
inline constexpr Nanoseconds kSimulatedSettle = kSecond;

/// One scenario; its schedule is the product's own.
class SimulatedRun {
public:
    explicit SimulatedRun(const Scenario& scenario);

    /// The visits of each job in one run after the other. The jobs read 4 KiB blocks and keep the device busy
    /// with 8 I/Os each, so a rate that is 1 % higher is a response time that is 1 % lower.
    std::span<const record::Visits> run(Random& random);

private:
    void draw_common_levels(Random& random);
    void fill(record::Visit& visit, double factor, double level) const;

    Scenario scenario_;
    std::vector<record::Visits> jobs_;
    std::vector<std::size_t> settings_; ///< of each visit
    std::vector<double> factors_;       ///< of each visit, that of the device in its steady time
};

} // namespace mpath::report
