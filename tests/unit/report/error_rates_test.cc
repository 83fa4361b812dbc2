// SPDX-License-Identifier: GPL-2.0-only
// How often intervals are wrong, over thousands of runs of which the truth is known: the tables of
// docs/comparison.md, which have to say what comes out here. MPATH_PRINT_RATES=1 prints their rows.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/comparison.h"
#include "simulated_run.h"

namespace mpath::report {
namespace {

using multipath::SteerOrder;

constexpr std::uint64_t kSeed = 20'240'229;
constexpr std::size_t kRuns = 10'000;
/// Where it is plain what comes out.
constexpr std::size_t kFewerRuns = 2'500;

/// A row of a table: what the noise is like in words, and in numbers.
struct Row {
    const char* words = "";
    Scenario scenario;
    std::size_t runs = kRuns;
};

std::string cells_of(const Row& row) {
    return fmt::format("| {} | `{}` | {} | {} | ", row.words, to_string(row.scenario.order),
                       row.scenario.settings, row.scenario.units);
}

/// Level of the other settings beside the first, as the geometric mean over infinitely many visits has it.
double true_level(const Scenario& scenario) {
    return scenario.effect + (scenario.first_stalls ? 0 : scenario.stall_chance * scenario.stall);
}

/// Of a hundred intervals of IOPS, those that don't contain the true ratio.
double wrong_intervals(const Row& row) {
    Scenario scenario = row.scenario;
    const double truth = std::exp(true_level(scenario));
    Random random(kSeed);
    SimulatedRun simulated(scenario);
    double wrong = 0;
    double intervals = 0;
    for (std::size_t run = 0; run < row.runs; ++run) {
        if (scenario.order == SteerOrder::shuffle) { // each run has a seed of its own
            scenario.seed = run;
            simulated = SimulatedRun(scenario);
        }
        for (const Comparison& comparison : compare(simulated.run(random))) {
            if (comparison.quantity == Quantity::iops) {
                const Interval interval = comparison.estimate.interval.value();
                ++intervals;
                wrong += interval.low > truth || interval.high < truth ? 1 : 0;
            }
        }
    }
    return 100 * wrong / intervals;
}

/// What the page says in the row that begins with these cells.
std::optional<double> documented(const std::string& cells) {
    std::ifstream file(MPATH_COMPARISON_PAGE);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::size_t at = page.find("\n" + cells);
    if (at == std::string::npos) {
        return {};
    }
    return std::atof(page.c_str() + at + 1 + cells.size());
}

std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << cells_of(row);
}

void expect_documented(const Row& row, double percent) {
    const std::string cells = cells_of(row);
    if (std::getenv("MPATH_PRINT_RATES") != nullptr) {
        fmt::print("{}{:.1f} % |\n", cells, percent);
    }
    const auto number = documented(cells);
    ASSERT_TRUE(number.has_value()) << "the page has no row " << cells << percent;
    // Where mathematical functions round otherwise, a run or two of all come out on the other side.
    EXPECT_NEAR(*number, percent, 0.11) << cells;
}

/// Over a time in visits, by 3 %; visits scatter by 1 % on top.
Scenario correlated(double time, SteerOrder order = SteerOrder::abba, std::size_t settings = 2,
                    std::uint64_t units = 10) {
    return {.order = order,
            .settings = settings,
            .units = units,
            .visit_noise = 0.01,
            .correlated = 0.03,
            .correlation = time};
}

class WhereTheIntervalHolds : public testing::TestWithParam<Row> {};

TEST_P(WhereTheIntervalHolds, FourToSixInAHundredAreWrong) {
    const double percent = wrong_intervals(GetParam());
    EXPECT_GE(percent, 4);
    EXPECT_LE(percent, 6);
    expect_documented(GetParam(), percent);
}

INSTANTIATE_TEST_SUITE_P(
    Rates, WhereTheIntervalHolds,
    testing::Values(Row{"independent", {}},           //
                    Row{"independent", {.units = 3}}, //
                    Row{"independent", {.settings = 3, .units = 5}},
                    Row{"independent, 4 jobs", {.settings = 3, .units = 5, .jobs = 4}},
                    Row{"slows by 30 %", {.slowdown = 0.3}}, //
                    Row{"slows by 30 %", {.settings = 3, .units = 5, .slowdown = 0.3}},
                    Row{"random walk, 2 % a visit", {.visit_noise = 0.01, .walk = 0.02}},
                    Row{"random walk, 2 % a visit",
                        {.settings = 3, .units = 5, .visit_noise = 0.01, .walk = 0.02}},
                    Row{"autocorrelated over 1/10 visit", correlated(0.1)}, //
                    Row{"autocorrelated over 1 visit", correlated(1)},
                    Row{"autocorrelated over 5 visits", correlated(5)},
                    Row{"autocorrelated over 20 visits", correlated(20)},
                    Row{"swings by 3 %, once in 3 units", {.swing = 0.03, .swing_period = 12}},
                    Row{"swings by 3 %, once in 2 visits", {.swing = 0.03, .swing_period = 2}},
                    Row{"slows by 30 %", {.order = SteerOrder::shuffle, .units = 20, .slowdown = 0.3}},
                    Row{"autocorrelated over 5 visits", correlated(5, SteerOrder::shuffle, 2, 20)},
                    Row{"swings by 3 %, once in 2 visits",
                        {.order = SteerOrder::shuffle, .units = 20, .swing = 0.03, .swing_period = 2}}));

class WhereItDoesNotHold : public testing::TestWithParam<Row> {};

TEST_P(WhereItDoesNotHold, IsKnownHowManyAreWrong) {
    const double percent = wrong_intervals(GetParam());
    EXPECT_TRUE(percent < 4 || percent > 6);
    expect_documented(GetParam(), percent);
}

Scenario stalling(std::uint64_t units, bool first_stalls) {
    return {.units = units, .stall_chance = 0.05, .stall = std::log(0.6), .first_stalls = first_stalls};
}

INSTANTIATE_TEST_SUITE_P(
    Rates, WhereItDoesNotHold,
    testing::Values(
        Row{"autocorrelated over 1 visit", correlated(1, SteerOrder::abba, 3, 5)},
        Row{"autocorrelated over 1/2 visit, nothing else",
            {.visit_noise = 0, .correlated = 0.03, .correlation = 0.5}},
        Row{"slows by 30 %", {.order = SteerOrder::cycle, .units = 20, .slowdown = 0.3}, kFewerRuns},
        Row{"slows by 30 %, visits scatter by 0.5 %",
            {.order = SteerOrder::cycle, .units = 20, .visit_noise = 0.005, .slowdown = 0.3},
            kFewerRuns},
        Row{"autocorrelated over 5 visits", correlated(5, SteerOrder::cycle, 2, 20), kFewerRuns},
        Row{"swings by 3 %, once a unit", {.swing = 0.03, .swing_period = 4}, kFewerRuns},
        Row{"swings by 3 %, 20 times in 21 units", {.swing = 0.03, .swing_period = 4.2}, kFewerRuns},
        Row{"swings by 3 %, once in 2 visits",
            {.order = SteerOrder::cycle, .units = 20, .swing = 0.03, .swing_period = 2},
            kFewerRuns},
        Row{"1 visit of 20 is 40 % slower", stalling(3, true), kFewerRuns},
        Row{"1 visit of 20 is 40 % slower", stalling(10, true), kFewerRuns},
        Row{"1 visit of 20 is 40 % slower, in one setting", stalling(3, false), kFewerRuns},
        Row{"1 visit of 20 is 40 % slower, in one setting", stalling(10, false), kFewerRuns},
        Row{"1 visit of 20 is 40 % slower, in one setting", stalling(40, false), kFewerRuns}));

/// The error of a unit's ratio is that of a visit when both settings have two visits each.
TEST(Detectable, IsShownFourTimesOutOfFive) {
    for (const std::uint64_t units : {5, 10}) {
        Scenario scenario{.units = units};
        const double error = scenario.visit_noise / std::sqrt(static_cast<double>(units));
        scenario.effect = (student_t(0.975, units - 1) + student_t(0.8, units - 1)) * error;
        Random random(kSeed);
        SimulatedRun simulated(scenario);
        double shown = 0;
        double detectable = 0;
        constexpr std::size_t kSome = 2'000;
        for (std::size_t run = 0; run < kSome; ++run) {
            const Comparison comparison = compare(simulated.run(random)).front();
            shown += comparison.estimate.shown() ? 1 : 0;
            detectable += std::log(*comparison.estimate.detectable);
        }
        EXPECT_NEAR(0.80, shown / kSome, 0.04) << units;
        EXPECT_NEAR(1, detectable / kSome / scenario.effect, 0.1) << units;
    }
}

} // namespace
} // namespace mpath::report
