// SPDX-License-Identifier: GPL-2.0-only
// Which visits a comparison uses, and what it does with them.
#include "report/comparison.h"

#include <cmath>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated_run.h"

namespace mpath::report {
namespace {

using multipath::SteerOrder;
using record::Visit;
using record::Visits;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Without any noise; the first line is that of the visit before the schedule's clock began.
std::vector<Visits> quiet_run(Scenario scenario) {
    scenario.visit_noise = 0;
    Random random(1);
    SimulatedRun run(scenario);
    const auto jobs = run.run(random);
    return {jobs.begin(), jobs.end()};
}

/// 10 % between two settings, three units of abba.
std::vector<Visits> three_units(std::size_t jobs = 1) {
    return quiet_run({.units = 3, .jobs = jobs, .effect = std::log(1.1)});
}

Visit& visit_of(Visits& job, std::uint64_t unit, std::size_t place) {
    return job.visits.at(1 + 4 * unit + place);
}

record::Moments& reads(Visit& visit) {
    return visit.steady[static_cast<std::size_t>(Operation::read)];
}

std::vector<std::uint64_t> units_of(const Comparison& comparison) {
    std::vector<std::uint64_t> units;
    for (const UnitRatio& each : comparison.units) {
        units.push_back(each.unit);
    }
    return units;
}

/// The comparison of the reads' IOPS, which is the first.
Comparison first_of(const std::vector<Visits>& jobs) {
    const std::vector<Comparison> comparisons = compare(jobs);
    return comparisons.empty() ? Comparison{} : comparisons.front();
}

TEST(Compare, HasEachQuantityOfAnOperationThatHadIo) {
    const std::vector<Comparison> comparisons = compare(three_units());
    ASSERT_THAT(comparisons, SizeIs(3));
    const double ratios[] = {1.1, 1.1, 1 / 1.1};
    const double references[] = {100'000, 409'600'000, 80'000};
    const Quantity quantities[] = {Quantity::iops, Quantity::bandwidth, Quantity::response_time};
    for (std::size_t index = 0; index < 3; ++index) {
        const Comparison& comparison = comparisons[index];
        EXPECT_EQ("a", comparison.reference);
        EXPECT_EQ("b", comparison.other);
        EXPECT_EQ(Operation::read, comparison.operation);
        EXPECT_EQ(quantities[index], comparison.quantity);
        EXPECT_NEAR(ratios[index], comparison.estimate.ratio.value(), 1e-5);
        EXPECT_NEAR(1, comparison.reference_value / references[index], 1e-5);
        EXPECT_NEAR(ratios[index], comparison.other_value / comparison.reference_value, 1e-6);
        EXPECT_THAT(units_of(comparison), ElementsAre(0, 1, 2));
        EXPECT_EQ(LeftOut{}, comparison.left_out);
        EXPECT_TRUE(comparison.drift_cancels);
    }
}

TEST(Compare, HasNoBandwidthOfWhatMovesNoBytes) {
    std::vector<Visits> jobs = three_units();
    for (Visit& visit : jobs[0].visits) {
        record::Moments& flushes = visit.steady[static_cast<std::size_t>(Operation::flush)];
        flushes.count = 10;
        flushes.sum = 1'000;
    }
    const std::vector<Comparison> comparisons = compare(jobs);
    ASSERT_THAT(comparisons, SizeIs(5));
    EXPECT_EQ(Operation::flush, comparisons[3].operation);
    EXPECT_EQ(Quantity::iops, comparisons[3].quantity);
    EXPECT_EQ(Operation::flush, comparisons[4].operation);
    EXPECT_EQ(Quantity::response_time, comparisons[4].quantity);
}

TEST(Compare, TakesTheReferenceThatItIsGiven) {
    const std::vector<Visits> jobs = quiet_run({.settings = 3, .units = 2, .effect = std::log(1.1)});
    const std::vector<Comparison> comparisons = compare(jobs, "c");
    ASSERT_THAT(comparisons, SizeIs(6));
    EXPECT_EQ("c", comparisons[0].reference);
    EXPECT_EQ("a", comparisons[0].other);
    EXPECT_NEAR(1 / 1.1, comparisons[0].estimate.ratio.value(), 1e-5);
    EXPECT_EQ("b", comparisons[3].other);
    EXPECT_NEAR(1, comparisons[3].estimate.ratio.value(), 1e-5);
    EXPECT_THAT(compare(jobs, "d"), IsEmpty());
}

TEST(Compare, HasNothingOfFewerThanTwoSettings) {
    EXPECT_THAT(compare({}), IsEmpty());
    EXPECT_THAT(compare(std::vector<Visits>(2)), IsEmpty());
    EXPECT_THAT(compare(quiet_run({.settings = 1})), IsEmpty());
}

TEST(Compare, AddsUpJobsVisitByVisit) {
    std::vector<Visits> jobs = three_units(2);
    for (Visit& visit : jobs[1].visits) { // a third of the other's rate, and slower
        reads(visit).count /= 3;
        reads(visit).sum *= 2;
    }
    // The second job comes to b later, so that its rate there is over a shorter time.
    for (const std::size_t place : {1, 2}) {
        Visit& visit = visit_of(jobs[1], 1, place);
        *visit.settled += (*visit.ended - *visit.settled) / 2;
    }
    const std::vector<Comparison> comparisons = compare(jobs);
    ASSERT_THAT(comparisons, SizeIs(3));
    EXPECT_NEAR(133'333, comparisons[0].reference_value, 2);
    EXPECT_NEAR(std::log(1.1), comparisons[0].units[0].log_ratio, 1e-5);
    EXPECT_NEAR(std::log((1 + 2 * 1 / 3.0) * 1.1 / (1 + 1 / 3.0)), comparisons[0].units[1].log_ratio, 1e-5);
    EXPECT_NEAR(80'000 * (1 + 2) / (1 + 1 / 3.0), comparisons[2].reference_value, 2);
}

TEST(Compare, LeavesOutADisturbedVisitsUnit) {
    std::vector<Visits> jobs = three_units(2);
    visit_of(jobs[1], 1, 2).disturbances = 3;
    visit_of(jobs[1], 1, 3).disturbances = 1;
    reads(visit_of(jobs[1], 1, 2)).count = 1;
    const Comparison comparison = first_of(jobs);
    EXPECT_THAT(units_of(comparison), ElementsAre(0, 2));
    EXPECT_EQ((LeftOut{.disturbed_units = 1, .disturbed_visits = 2}), comparison.left_out);
    EXPECT_NEAR(1.1, comparison.estimate.ratio.value(), 1e-5);
}

TEST(Compare, MindsDisturbedVisitsOnlyOfTheTwoSettings) {
    std::vector<Visits> jobs = quiet_run({.settings = 3, .units = 2});
    jobs[0].visits[3].disturbances = 1; // a b c
    const std::vector<Comparison> comparisons = compare(jobs);
    ASSERT_THAT(comparisons, SizeIs(6));
    EXPECT_THAT(units_of(comparisons[0]), ElementsAre(0, 1));
    EXPECT_EQ(LeftOut{}, comparisons[0].left_out);
    EXPECT_THAT(units_of(comparisons[3]), ElementsAre(1));
    EXPECT_EQ(1U, comparisons[3].left_out.disturbed_visits);
}

/// What can happen to one visit of a job so that its unit is incomplete.
struct Fault {
    const char* name;
    void (*happen)(Visits& job, std::size_t visit);
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
    return out << fault.name;
}

class CompareWithoutAVisit : public testing::TestWithParam<Fault> {};

TEST_P(CompareWithoutAVisit, LeavesTheUnitOut) {
    for (const std::size_t visit : {9, 10, 11, 12}) { // of the last unit
        std::vector<Visits> jobs = three_units(2);
        GetParam().happen(jobs[1], visit);
        const Comparison comparison = first_of(jobs);
        EXPECT_THAT(units_of(comparison), ElementsAre(0, 1)) << visit;
        EXPECT_EQ(1U, comparison.left_out.incomplete_units) << visit;
        EXPECT_NEAR(1.1, comparison.estimate.ratio.value(), 1e-5) << visit;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Because, CompareWithoutAVisit,
    testing::Values(
        Fault{"ItIsMissing",
              [](Visits& job, std::size_t visit) {
                  job.visits.erase(job.visits.begin() + static_cast<std::ptrdiff_t>(visit));
              }},
        Fault{"TheJobEnded",
              [](Visits& job, std::size_t visit) {
                  job.visits.resize(visit + 1);
                  *job.visits[visit].ended -= 2 * kSecond;
                  reads(job.visits[visit]).count /= 2;
              }},
        Fault{"TheJobWasKilled", [](Visits& job, std::size_t visit) { job.visits.resize(visit); }},
        Fault{"ItHasNotEnded", [](Visits& job, std::size_t visit) { job.visits[visit].ended.reset(); }},
        Fault{"ItHasNotSettled", [](Visits& job, std::size_t visit) { job.visits[visit].settled.reset(); }},
        Fault{"ItSettledWhenItEnded",
              [](Visits& job, std::size_t visit) { job.visits[visit].settled = job.visits[visit].ended; }},
        Fault{"SomebodySwitchedByCommand",
              [](Visits& job, std::size_t visit) {
                  job.visits[visit].cause = record::VisitCause::command;
                  job.visits[visit].unit.reset();
              }},
        Fault{"TheScheduleCameBackToItAfterACommand",
              [](Visits& job, std::size_t visit) {
                  Visit again = job.visits[visit];
                  again.number += 100;
                  again.began += 7 * kSecond;
                  again.settled = again.began + kMillisecond;
                  job.visits[visit].ended = again.began;
                  job.visits.insert(job.visits.begin() + static_cast<std::ptrdiff_t>(visit) + 1, again);
              }}),
    [](const testing::TestParamInfo<Fault>& param) { return param.param.name; });

TEST(Compare, UsesALastUnitThatEndedAMomentBeforeTheSchedule) {
    std::vector<Visits> jobs = three_units();
    *jobs[0].visits.back().ended -= 5 * kMillisecond;
    EXPECT_THAT(units_of(first_of(jobs)), ElementsAre(0, 1, 2));
}

TEST(Compare, KnowsAVisitThatWasCutShortInASingleUnit) {
    std::vector<Visits> jobs = quiet_run({.units = 1});
    EXPECT_EQ(1U, first_of(jobs).estimate.units);
    *jobs[0].visits.back().ended -= 5 * kSecond;
    EXPECT_EQ(0U, first_of(jobs).estimate.units);
}

TEST(Compare, StillUsesTheOthersWhenOneVisitTookLong) {
    std::vector<Visits> jobs = three_units();
    *visit_of(jobs[0], 2, 3).ended += 100 * kSecond;
    EXPECT_THAT(units_of(first_of(jobs)), ElementsAre(0, 1, 2));
}

TEST(Compare, LeavesOutUnitsThatOneOfTheJobsDoesNotHave) {
    std::vector<Visits> jobs = three_units(2);
    jobs[1].visits.resize(5);                                                 // it ended after the first
    jobs[0].visits.erase(jobs[0].visits.begin(), jobs[0].visits.begin() + 3); // joined late
    const Comparison comparison = first_of(jobs);
    EXPECT_THAT(comparison.units, IsEmpty());
    EXPECT_EQ(3U, comparison.left_out.incomplete_units);
    EXPECT_EQ(Estimate{}, comparison.estimate);
    EXPECT_FALSE(comparison.drift_cancels);
}

TEST(Compare, CountsVisitsWithoutALine) {
    std::vector<Visits> jobs = three_units(2);
    const auto begin = jobs[0].visits.begin();
    jobs[0].visits.erase(begin + 6, begin + 10);
    jobs[0].folded.emplace().visits = 4;
    jobs[1].visits.erase(jobs[1].visits.begin() + 6); // and its job was killed
    const Comparison comparison = first_of(jobs);
    EXPECT_THAT(units_of(comparison), ElementsAre(0));
    EXPECT_EQ((LeftOut{.incomplete_units = 2, .missing_visits = 5}), comparison.left_out);
}

TEST(Compare, HasNoNumberWhereNothingWasMeasured) {
    std::vector<Visits> jobs = three_units(2);
    reads(visit_of(jobs[0], 0, 1)) = {}; // the other job's are there
    reads(visit_of(jobs[0], 1, 1)) = {};
    reads(visit_of(jobs[1], 1, 1)) = {};
    const Comparison comparison = first_of(jobs);
    EXPECT_THAT(units_of(comparison), ElementsAre(0, 2));
    EXPECT_EQ((LeftOut{.units_without_io = 1}), comparison.left_out);
}

TEST(Compare, CountsEveryUnitOnce) {
    std::vector<Visits> jobs = quiet_run({.units = 6});
    jobs[0].visits.pop_back();
    visit_of(jobs[0], 5, 0).disturbances = 1;
    visit_of(jobs[0], 1, 0).disturbances = 1;
    reads(visit_of(jobs[0], 1, 1)) = {};
    reads(visit_of(jobs[0], 2, 1)) = {};
    const Comparison comparison = first_of(jobs);
    const LeftOut expected{
        .incomplete_units = 1, .disturbed_units = 1, .units_without_io = 1, .disturbed_visits = 2};
    EXPECT_EQ(expected, comparison.left_out);
    EXPECT_THAT(units_of(comparison), ElementsAre(0, 3, 4));
}

TEST(Compare, SaysWhetherDriftCancels) {
    EXPECT_TRUE(first_of(quiet_run({.order = SteerOrder::abba, .settings = 3})).drift_cancels);
    EXPECT_FALSE(first_of(quiet_run({.order = SteerOrder::cycle, .settings = 3})).drift_cancels);
    EXPECT_FALSE(first_of(quiet_run({.order = SteerOrder::shuffle, .settings = 3})).drift_cancels);
}

TEST(Compare, TakesStepsOfDifferentLengthForWhatTheyAre) {
    multipath::SteerSchedule schedule;
    schedule.order = SteerOrder::cycle;
    schedule.settings = {{"a"}, {"b"}};
    schedule.steps = {{0, 20 * kSecond}, {1, 10 * kSecond}, {0, 5 * kSecond}};
    Visits job;
    for (Nanoseconds time = 0; time < 3 * schedule.unit_length();) {
        const multipath::SteerStop stop = schedule.at(time);
        Visit visit;
        visit.number = job.visits.size() + 1;
        visit.setting = schedule.settings[stop.setting].policy;
        visit.cause = record::VisitCause::schedule;
        visit.unit = stop.unit;
        visit.asked = visit.began = kSecond + stop.begin;
        visit.settled = visit.began + kSecond;
        visit.ended = kSecond + stop.end;
        reads(visit) = {.count = 1'000 * (*visit.ended - *visit.settled) / kSecond, .sum = 1'000};
        job.visits.push_back(visit);
        time = stop.end;
    }
    const Comparison comparison = first_of({job});
    EXPECT_THAT(units_of(comparison), ElementsAre(0, 1, 2));
    EXPECT_NEAR(1, comparison.estimate.ratio.value(), 1e-12);
    EXPECT_FALSE(comparison.drift_cancels);
}

TEST(Quantity, HasAName) {
    EXPECT_EQ("IOPS", to_string(Quantity::iops));
    EXPECT_EQ("bandwidth", to_string(Quantity::bandwidth));
    EXPECT_EQ("response time", to_string(Quantity::response_time));
}

} // namespace
} // namespace mpath::report
