// SPDX-License-Identifier: GPL-2.0-only
// A device that slows down while it is measured: what a comparison makes of it in which order.
#include <cmath>

#include <gtest/gtest.h>

#include "report/comparison.h"
#include "simulated_run.h"

namespace mpath::report {
namespace {

using multipath::SteerOrder;

/// It loses 30 % of its rate by the end of the run; a visit scatters by half a percent.
Scenario slowing(SteerOrder order, std::uint64_t units, double effect = 0) {
    return {.order = order, .units = units, .effect = effect, .visit_noise = 0.005, .slowdown = 0.3};
}

/// What the comparisons of IOPS in many runs came to.
struct Outcome {
    double ratio = 0; ///< geometric mean
    double shown = 0; ///< part of the runs
    bool drift_cancels = true;
};

Outcome of_many_runs(const Scenario& scenario) {
    constexpr int kRuns = 400;
    Random random(20'080);
    SimulatedRun run(scenario);
    Outcome outcome;
    double logs = 0;
    for (int index = 0; index < kRuns; ++index) {
        const Comparison comparison = compare(run.run(random)).front();
        logs += std::log(comparison.estimate.ratio.value());
        outcome.shown += comparison.estimate.shown() ? 1.0 / kRuns : 0;
        outcome.drift_cancels = outcome.drift_cancels && comparison.drift_cancels;
    }
    outcome.ratio = std::exp(logs / kRuns);
    return outcome;
}

/// As one measures without steering: half of the run in a, the other half in b.
TEST(Drift, OneSettingAfterTheOtherMakesADifferenceOfTwoEqualOnes) {
    const Outcome halves = of_many_runs(slowing(SteerOrder::cycle, 1));
    // A quarter and three quarters into the run the device has lost 7.5 % and 22.5 %.
    EXPECT_NEAR(0.775 / 0.925, halves.ratio, 0.01);
    EXPECT_FALSE(halves.drift_cancels);
}

TEST(Drift, CycleMakesADifferenceOfTwoEqualOnesAndShowsIt) {
    const Outcome cycle = of_many_runs(slowing(SteerOrder::cycle, 20));
    EXPECT_NEAR(0.991, cycle.ratio, 0.001);
    EXPECT_GT(cycle.shown, 0.95);
    EXPECT_FALSE(cycle.drift_cancels);
}

TEST(Drift, AbbaMakesNoDifferenceOfTwoEqualOnes) {
    const Outcome abba = of_many_runs(slowing(SteerOrder::abba, 10));
    EXPECT_NEAR(1, abba.ratio, 0.0005);
    EXPECT_LT(abba.shown, 0.08); // of a true null hypothesis, one in twenty
    EXPECT_TRUE(abba.drift_cancels);
}

/// What does not cancel is the curvature: the logarithm of a rate that falls along a line bends.
TEST(Drift, AbbaLeavesATenThousandthWhereNothingElseScatters) {
    Scenario scenario = slowing(SteerOrder::abba, 10);
    scenario.visit_noise = 0;
    const Outcome abba = of_many_runs(scenario);
    EXPECT_NEAR(0.00008, std::abs(abba.ratio - 1), 0.00003);
}

TEST(Drift, AbbaFindsATrueDifferenceOfFivePercent) {
    for (const double ratio : {1.05, 1 / 1.05}) {
        const Outcome abba = of_many_runs(slowing(SteerOrder::abba, 10, std::log(ratio)));
        EXPECT_NEAR(ratio, abba.ratio, 0.0005);
        EXPECT_GT(abba.shown, 0.99);
    }
}

} // namespace
} // namespace mpath::report
