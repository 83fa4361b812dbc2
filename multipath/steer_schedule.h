// SPDX-License-Identifier: GPL-2.0-only
// The options steer=, steer_order= and steer_settle=: which settings a job visits, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "path/path_subset.h"

namespace mpath::multipath {

/// What steering can choose: an iopolicy and the paths it may pick from.
struct Setting {
    std::string policy; ///< as iopolicy= takes it
    PathSubset paths = kAllPaths;

    bool operator==(const Setting&) const = default;
};

/// "queue-depth", "path:a", "queue-depth/path:a+b": as steer= takes it. With one path, the policy has nothing
/// to choose and is not named.
[[nodiscard]] std::string to_string(const Setting& setting, std::span<const std::string> path_names);

/// The setting that `text` names: an iopolicy, `path:NAME[+NAME...]`, or both joined by '/', where a number
/// that is no name is a path's place among the job's; a part that is missing is taken from `base`. EINVAL
/// with what is wrong otherwise.
[[nodiscard]] Result<Setting> parse_setting(std::string_view text, const Setting& base,
                                            std::span<const std::string> path_names);

/// At least this much after a switch is kept apart, unless steer_settle= says otherwise.
inline constexpr Nanoseconds kDefaultSettle = 500 * kMillisecond;

enum class SteerOrder : std::uint8_t {
    abba,    ///< forwards, backwards, forwards ...
    cycle,   ///< forwards, forwards ...
    shuffle, ///< each pass in an order of its own
};

std::string_view to_string(SteerOrder order);

/// One stop of a schedule. Times since the schedule's clock began.
struct SteerStop {
    std::size_t setting = 0; ///< index into SteerSchedule::settings
    std::uint64_t unit = 0;  ///< complete passes before this one; with abba a pass goes there and back
    Nanoseconds begin = 0;
    Nanoseconds end = 0;

    bool operator==(const SteerStop&) const = default;
};

struct SteerSchedule {
    struct Step {
        std::size_t setting = 0; ///< index into `settings`
        Nanoseconds duration = 0;

        bool operator==(const Step&) const = default;
    };

    std::vector<Setting> settings; ///< each once, in the order of their first step
    std::vector<Step> steps;
    SteerOrder order = SteerOrder::abba;
    std::uint64_t seed = 0; ///< of SteerOrder::shuffle: equal seeds are equal orders, on every machine

    /// Where the schedule is at a time since its clock began. It never ends.
    [[nodiscard]] SteerStop at(Nanoseconds time) const;
    /// Of one pass, as SteerStop::unit counts them.
    [[nodiscard]] Nanoseconds unit_length() const;
};

/// steer=: comma-separated `setting@duration`; `base` is what a part that a setting does not name is taken
/// from. Every visit must be longer than `settle`. EINVAL with what is wrong otherwise.
[[nodiscard]] Result<SteerSchedule> parse_steer(std::string_view text, SteerOrder order, Nanoseconds settle,
                                                const Setting& base, std::span<const std::string> path_names);

} // namespace mpath::multipath
