// SPDX-License-Identifier: GPL-2.0-only
#include "report/settings_comparison.h"

#include <algorithm>
#include <cmath>

namespace mpath::report {
namespace {

/// Of the geometric means of two groups of units, that of both together.
double pooled_mean(double a, std::size_t units_of_a, double b, std::size_t units_of_b) {
    if (units_of_a == 0 || units_of_b == 0) {
        return units_of_a == 0 ? b : a;
    }
    const auto weight = static_cast<double>(units_of_a) / static_cast<double>(units_of_a + units_of_b);
    return std::exp(weight * std::log(a) + (1 - weight) * std::log(b));
}

void add_left_out(LeftOut& into, const LeftOut& other) {
    into.incomplete_units += other.incomplete_units;
    into.disturbed_units += other.disturbed_units;
    into.units_without_io += other.units_without_io;
    into.disturbed_visits += other.disturbed_visits;
    into.missing_visits += other.missing_visits;
}

void pool(Comparison& into, const Comparison& other) {
    const std::size_t before = into.units.size();
    into.reference_value =
        pooled_mean(into.reference_value, before, other.reference_value, other.units.size());
    into.other_value = pooled_mean(into.other_value, before, other.other_value, other.units.size());
    into.drift_cancels = (before == 0 || into.drift_cancels) && (other.units.empty() || other.drift_cancels);
    into.units.insert(into.units.end(), other.units.begin(), other.units.end());
    add_left_out(into.left_out, other.left_out);
    std::vector<double> ratios;
    for (const UnitRatio& unit : into.units) {
        ratios.push_back(unit.log_ratio);
    }
    into.estimate = estimate(ratios);
}

bool same_question(const Comparison& a, const Comparison& b) {
    return a.reference == b.reference && a.other == b.other && a.operation == b.operation &&
           a.quantity == b.quantity;
}

} // namespace

std::vector<Comparison> compare_settings(const Block& block, const std::string& against) {
    std::vector<Comparison> pooled;
    if (block.is_sum || !block.conditions.steering || block.report.result.settings.empty()) {
        return pooled;
    }
    const std::string& reference = against.empty() ? block.report.result.settings.front().name : against;
    for (const std::vector<const Job*>& jobs : block.repeats) {
        std::vector<record::Visits> visits;
        for (const Job* job : jobs) {
            visits.push_back(job->visits);
        }
        for (Comparison& one : compare(visits, reference)) {
            const auto same = std::find_if(pooled.begin(), pooled.end(), [&](const Comparison& other) {
                return same_question(other, one);
            });
            if (same == pooled.end()) {
                pooled.push_back(std::move(one));
            } else {
                pool(*same, one);
            }
        }
    }
    return pooled;
}

} // namespace mpath::report
