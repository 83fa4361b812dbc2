// SPDX-License-Identifier: GPL-2.0-only
#include "report/statistics.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

namespace mpath::report {
namespace {

/// Of an interval that leaves as much out on either side.
constexpr double kUpperTail = 1 - (1 - kConfidence) / 2;

/// In double precision throughout: exact enough by many digits, and several times faster than long double.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentT = boost::math::students_t_distribution<double, InDouble>;

bool is_measured(double value) {
    return std::isfinite(value) && value > 0;
}

} // namespace

double student_t(double probability, std::size_t degrees) {
    return boost::math::quantile(StudentT(static_cast<double>(degrees)), probability);
}

double mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(std::span<const double> values) {
    const double middle = mean(values);
    double squares = 0;
    for (const double value : values) {
        squares += (value - middle) * (value - middle);
    }
    return squares / static_cast<double>(values.size() - 1);
}

double standard_error(std::span<const double> values) {
    return std::sqrt(variance(values) / static_cast<double>(values.size()));
}

bool Estimate::shown() const {
    return interval && (interval->low > 1 || interval->high < 1);
}

Estimate estimate(std::span<const double> log_ratios) {
    Estimate result;
    result.units = log_ratios.size();
    if (result.units == 0) {
        return result;
    }
    const double middle = mean(log_ratios);
    result.ratio = std::exp(middle);
    if (result.units == 1) {
        return result;
    }
    const double error = standard_error(log_ratios);
    const double t = student_t(kUpperTail, result.units - 1);
    result.interval = {std::exp(middle - t * error), std::exp(middle + t * error)};
    result.detectable = std::exp((t + student_t(kPower, result.units - 1)) * error);
    return result;
}

Estimate compare_repeats(std::span<const double> references, std::span<const double> values) {
    std::vector<double> log_ratios;
    if (references.size() == values.size()) {
        for (std::size_t repeat = 0; repeat < values.size(); ++repeat) {
            if (is_measured(references[repeat]) && is_measured(values[repeat])) {
                log_ratios.push_back(std::log(values[repeat]) - std::log(references[repeat]));
            }
        }
    }
    return estimate(log_ratios);
}

} // namespace mpath::report
