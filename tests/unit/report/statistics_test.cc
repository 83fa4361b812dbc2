// SPDX-License-Identifier: GPL-2.0-only
#include "report/statistics.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace mpath::report {
namespace {

TEST(StudentT, HasTheQuantilesOfPublishedTables) {
    // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2; any textbook's table has them.
    constexpr std::array kTable{std::pair{1, 12.706}, std::pair{2, 4.303},  std::pair{5, 2.571},
                                std::pair{10, 2.228}, std::pair{30, 2.042}, std::pair{100, 1.984}};
    for (const auto& [degrees, quantile] : kTable) {
        EXPECT_NEAR(quantile, student_t(0.975, static_cast<std::size_t>(degrees)), 0.0005) << degrees;
        EXPECT_NEAR(-quantile, student_t(0.025, static_cast<std::size_t>(degrees)), 0.0005) << degrees;
    }
    EXPECT_NEAR(0, student_t(0.5, 7), 1e-12);
    // With one degree it is Cauchy's distribution, whose quantile has a closed form: tan(pi (p - 1/2)).
    EXPECT_NEAR(1.3764, student_t(0.8, 1), 0.00005);
}

/// Hours of sleep gained, a second medicine beside a first on the same ten patients: Student, "The probable
/// error of a mean", Biometrika 6 (1908); R's dataset `sleep`, whose t.test(paired = TRUE) has these results.
constexpr std::array kSleep{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

TEST(Mean, AndItsErrorAreThoseOfStudentsSleepData) {
    EXPECT_NEAR(1.58, mean(kSleep), 1e-12);
    EXPECT_NEAR(1.2300, std::sqrt(variance(kSleep)), 0.00005);
    EXPECT_NEAR(4.0621, mean(kSleep) / standard_error(kSleep), 0.00005);
}

TEST(Estimate, HasTheIntervalOfStudentsSleepData) {
    const Estimate result = estimate(kSleep); // as if they were logarithms
    EXPECT_EQ(10U, result.units);
    EXPECT_NEAR(1.58, std::log(result.ratio.value()), 1e-12);
    EXPECT_NEAR(0.7001, std::log(result.interval.value().low), 0.00005);
    EXPECT_NEAR(2.4599, std::log(result.interval.value().high), 0.00005);
    // (2.262157 + 0.883404) * 0.388959
    EXPECT_NEAR(1.22350, std::log(result.detectable.value()), 0.00005);
    EXPECT_TRUE(result.shown());
}

TEST(Estimate, OfTheInverseRatiosIsTheInverse) {
    std::array<double, kSleep.size()> inverse = kSleep;
    for (double& value : inverse) {
        value = -value;
    }
    const Estimate result = estimate(inverse);
    EXPECT_NEAR(-2.4599, std::log(result.interval.value().low), 0.00005);
    EXPECT_NEAR(-0.7001, std::log(result.interval.value().high), 0.00005);
    EXPECT_TRUE(result.shown());
}

TEST(Estimate, ShowsNothingWhenTheIntervalHasOneInIt) {
    const Estimate result = estimate(std::array{0.02, -0.01, 0.01, 0.0});
    EXPECT_GT(result.ratio.value(), 1);
    EXPECT_LT(result.interval.value().low, 1);
    EXPECT_GT(result.interval.value().high, 1);
    EXPECT_FALSE(result.shown());
    EXPECT_FALSE(estimate(std::array{0.0, 0.0}).shown());
}

TEST(Estimate, SaysOfTooFewUnitsOnlyWhatTheyTell) {
    EXPECT_EQ(Estimate{}, estimate({}));
    const Estimate one = estimate(std::array{std::log(1.25)});
    EXPECT_EQ(1U, one.units);
    EXPECT_NEAR(1.25, one.ratio.value(), 1e-12);
    EXPECT_FALSE(one.interval.has_value());
    EXPECT_FALSE(one.detectable.has_value());
    EXPECT_FALSE(one.shown());
    EXPECT_TRUE(estimate(std::array{0.1, 0.2}).interval.has_value());
}

TEST(CompareRepeats, PairsTheRepeats) {
    // Each repeat has a level of its own, far apart; what they have in common is the ratio.
    const Estimate result = compare_repeats(std::array{100.0, 200.0, 50.0}, std::array{110.0, 222.0, 54.8});
    EXPECT_EQ(3U, result.units);
    EXPECT_NEAR(1.102, result.ratio.value(), 0.0005);
    EXPECT_TRUE(result.shown());
}

TEST(CompareRepeats, LeavesOutARepeatThatWasNotMeasured) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Estimate result =
        compare_repeats(std::array{100.0, 0.0, nan, 100.0, 50.0}, std::array{110.0, 5.0, 5.0, nan, 55.0});
    EXPECT_EQ(2U, result.units);
    EXPECT_NEAR(1.1, result.ratio.value(), 1e-9);
}

TEST(CompareRepeats, HasNoUnitsWhenItIsNotKnownWhatBelongsTogether) {
    EXPECT_EQ(Estimate{}, compare_repeats(std::array{1.0, 2.0}, std::array{1.0}));
}

} // namespace
} // namespace mpath::report
