// SPDX-License-Identifier: GPL-2.0-only
// What a few paired measurements say of a ratio: how large it is, within which limits, and how small a
// difference they could have shown.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace mpath::report {

/// Of the intervals: in so many of a hundred runs they contain the true ratio.
inline constexpr double kConfidence = 0.95;
/// Of Estimate::detectable: in so many of a hundred runs the interval would have excluded 1.
inline constexpr double kPower = 0.80;

/// What a variable of Student's t distribution with that many degrees of freedom stays below with this
/// probability. `probability` is above 0 and below 1, `degrees` at least 1.
[[nodiscard]] double student_t(double probability, std::size_t degrees);

/// Of at least one value.
[[nodiscard]] double mean(std::span<const double> values);
/// Of a sample of at least two values: divided by one less than there are.
[[nodiscard]] double variance(std::span<const double> values);
/// Of the mean of at least two values that are independent of each other.
[[nodiscard]] double standard_error(std::span<const double> values);

struct Interval {
    double low = 0;
    double high = 0;

    bool operator==(const Interval&) const = default;
};

/// Of a ratio. What too few units can't tell is empty.
struct Estimate {
    std::size_t units = 0;            ///< the log ratios it was made from
    std::optional<double> ratio;      ///< of the geometric means; from one unit on
    std::optional<Interval> interval; ///< that contains the true ratio with kConfidence; from two units on
    /// The smallest true ratio above 1 (below 1: its inverse) that a run like this one shows with kPower;
    /// from two units on. Worked out from the scatter of this run.
    std::optional<double> detectable;

    /// The interval excludes 1: the two differ.
    [[nodiscard]] bool shown() const;
    bool operator==(const Estimate&) const = default;
};

/// The natural logarithms of the ratios, one for each unit, taken as independent and from one normal
/// distribution: their mean and the interval of Student's t with one degree of freedom less than there are,
/// as ratios. The true difference that is shown with kPower is (t of kConfidence + t of kPower) standard
/// errors, the usual approximation of the noncentral t distribution. All values are finite.
[[nodiscard]] Estimate estimate(std::span<const double> log_ratios);

/// How `values` compare to `references`, both one positive number for each repeat of a run, in the order of
/// the repeats: paired, so that what all of a repeat had in common cancels. A repeat without a positive,
/// finite number on either side is left out. Of different lengths nobody knows what belongs together: the
/// estimate has no units then.
[[nodiscard]] Estimate compare_repeats(std::span<const double> references, std::span<const double> values);

} // namespace mpath::report
