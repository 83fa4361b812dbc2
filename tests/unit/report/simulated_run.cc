// SPDX-License-Identifier: GPL-2.0-only
#include "simulated_run.h"

#include <cmath>
#include <numbers>

namespace mpath::report {
namespace {

/// The device's level changes this often within a visit; a visit sees the mean, as a real one does.
constexpr std::size_t kSlices = 8;
constexpr std::size_t kTransitionSlices = kSlices * kSimulatedSettle / kSimulatedVisit;

constexpr double kRate = 100'000;
constexpr double kDepth = 8;
constexpr std::uint64_t kBlock = 4'096;

multipath::SteerSchedule schedule_of(const Scenario& scenario) {
    multipath::SteerSchedule schedule;
    schedule.order = scenario.order;
    schedule.seed = scenario.seed;
    for (std::size_t setting = 0; setting < scenario.settings; ++setting) {
        schedule.settings.push_back({std::string(1, static_cast<char>('a' + setting))});
        schedule.steps.push_back({setting, kSimulatedVisit});
    }
    return schedule;
}

} // namespace

double Random::normal() {
    if (has_spare_) {
        has_spare_ = false;
        return spare_;
    }
    double x = 0;
    double y = 0;
    double square = 0;
    do {
        x = 2 * uniform() - 1;
        y = 2 * uniform() - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
}

SimulatedRun::SimulatedRun(const Scenario& scenario) : scenario_(scenario) {
    const multipath::SteerSchedule schedule = schedule_of(scenario);
    const Nanoseconds began = 1'000 * kSecond;
    record::Visits visits;
    record::Visit start; // while the job waits for the clock
    start.number = 1;
    start.setting = "a";
    start.asked = began - kSecond;
    start.began = start.asked;
    start.first_io = start.asked;
    start.settled = start.asked;
    start.ended = began;
    visits.visits.push_back(start);
    settings_.push_back(0);
    for (Nanoseconds time = 0; time < scenario.units * schedule.unit_length();) {
        const multipath::SteerStop stop = schedule.at(time);
        record::Visit visit;
        visit.number = visits.visits.size() + 1;
        visit.setting = schedule.settings[stop.setting].policy;
        visit.cause = record::VisitCause::schedule;
        visit.unit = stop.unit;
        visit.asked = began + stop.begin;
        visit.began = visit.asked + 10 * kMicrosecond;
        visit.first_io = visit.began + 20 * kMicrosecond;
        visit.settled = visit.asked + kSimulatedSettle;
        visit.ended = began + stop.end + 10 * kMicrosecond;
        visits.visits.push_back(visit);
        settings_.push_back(stop.setting);
        time = stop.end;
    }
    jobs_.assign(scenario.jobs, visits);
    factors_.assign(visits.visits.size(), 1);
}

void SimulatedRun::draw_common_levels(Random& random) {
    const double step = 1.0 / kSlices;
    const double steps = static_cast<double>((factors_.size() - 1) * kSlices);
    const double memory = std::exp(-step / scenario_.correlation);
    const double news = scenario_.correlated * std::sqrt(1 - memory * memory);
    const double phase = scenario_.swing == 0 ? 0 : 2 * std::numbers::pi * random.uniform();
    double walked = 0;
    double correlated = scenario_.correlated == 0 ? 0 : scenario_.correlated * random.normal();
    std::size_t slice = 0;
    for (std::size_t visit = 1; visit < factors_.size(); ++visit) {
        double sum = 0;
        for (std::size_t part = 0; part < kSlices; ++part, ++slice) {
            walked += scenario_.walk == 0 ? 0 : scenario_.walk * std::sqrt(step) * random.normal();
            correlated = scenario_.correlated == 0 ? 0 : memory * correlated + news * random.normal();
            if (part < kTransitionSlices) {
                continue;
            }
            const double time = (static_cast<double>(slice) + 0.5) * step;
            const double turns = time / scenario_.swing_period;
            const double swing =
                scenario_.swing == 0 ? 0 : scenario_.swing * std::sin(phase + 2 * std::numbers::pi * turns);
            const double left = 1 - scenario_.slowdown * (static_cast<double>(slice) + 0.5) / steps;
            sum += left * std::exp(walked + correlated + swing);
        }
        factors_[visit] = sum / (kSlices - kTransitionSlices);
    }
}

void SimulatedRun::fill(record::Visit& visit, double factor, double level) const {
    const auto time = static_cast<double>(*visit.ended - *visit.settled);
    const double count = std::round(kRate * factor * std::exp(level) * time / static_cast<double>(kSecond));
    record::Moments& reads = visit.steady[static_cast<std::size_t>(Operation::read)];
    reads.count = static_cast<std::uint64_t>(count);
    reads.bytes = reads.count * kBlock;
    reads.sum = static_cast<std::uint64_t>(kDepth * time);
}

std::span<const record::Visits> SimulatedRun::run(Random& random) {
    if (scenario_.slowdown != 0 || scenario_.walk != 0 || scenario_.correlated != 0 || scenario_.swing != 0) {
        draw_common_levels(random);
    }
    for (record::Visits& job : jobs_) {
        for (std::size_t index = 1; index < job.visits.size(); ++index) {
            const bool is_first = settings_[index] == 0;
            double level = scenario_.visit_noise * random.normal() + (is_first ? 0 : scenario_.effect);
            if (scenario_.stall_chance != 0 && (scenario_.first_stalls || !is_first)) {
                level += random.uniform() < scenario_.stall_chance ? scenario_.stall : 0;
            }
            fill(job.visits[index], factors_[index], level);
        }
    }
    return jobs_;
}

} // namespace mpath::report
