// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/steer_schedule.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "base/duration.h"
#include "base/words.h"
#include "multipath/io_policy.h"

namespace mpath::multipath {
namespace {

constexpr std::string_view kPathPrefix = "path:";

/// Settings of one schedule; a job keeps each of them apart on each path.
constexpr std::size_t kMostSettings = 32;

Result<PathSubset> parse_subset(std::string_view text, std::span<const std::string> path_names) {
    PathSubset subset = 0;
    for (const std::string_view name : split(text, '+')) {
        const auto place = find_path(name, path_names);
        if (!place) {
            return failure(EINVAL, "'{}' is not one of the job's paths; they are {}", name,
                           fmt::join(path_names, ", "));
        }
        if (*place >= kSubsetPaths) {
            return failure(EINVAL, "path {} is number {}, and only the first {} can be steered by name", name,
                           *place + 1, kSubsetPaths);
        }
        subset |= PathSubset{1} << *place;
    }
    return known_paths(subset, path_names.size());
}

/// Bits that are the same everywhere for the same seed (splitmix64; S. Vigna's constants).
std::uint64_t scatter(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15;
    std::uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

std::vector<std::size_t> forwards(std::size_t steps) {
    std::vector<std::size_t> order(steps);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

/// The steps of one pass, in their order.
std::vector<std::size_t> pass(const SteerSchedule& schedule, std::uint64_t unit) {
    std::vector<std::size_t> order = forwards(schedule.steps.size());
    if (schedule.order == SteerOrder::abba) {
        order.insert(order.end(), order.rbegin(), order.rend());
    } else if (schedule.order == SteerOrder::shuffle) {
        std::uint64_t state = schedule.seed ^ (unit * 0xD1B54A32D192ED03);
        for (std::size_t left = order.size(); left > 1; --left) {
            std::swap(order[left - 1], order[scatter(state) % left]);
        }
    }
    return order;
}

} // namespace

std::string_view to_string(SteerOrder order) {
    switch (order) {
    case SteerOrder::abba:
        return "abba";
    case SteerOrder::cycle:
        return "cycle";
    case SteerOrder::shuffle:
        return "shuffle";
    }
    return "unknown";
}

std::string to_string(const Setting& setting, std::span<const std::string> path_names) {
    if (setting.paths == kAllPaths) {
        return setting.policy;
    }
    std::vector<std::string_view> names;
    for (std::size_t index = 0; index < path_names.size(); ++index) {
        if (contains(setting.paths, index)) {
            names.push_back(path_names[index]);
        }
    }
    const std::string subset = fmt::format("{}{}", kPathPrefix, fmt::join(names, "+"));
    return names.size() == 1 ? subset : fmt::format("{}/{}", setting.policy, subset);
}

Result<Setting> parse_setting(std::string_view text, const Setting& base,
                              std::span<const std::string> path_names) {
    Setting setting = base;
    bool has_policy = false;
    bool has_paths = false;
    for (const std::string_view part : split(text, '/')) {
        const bool names_paths = part.starts_with(kPathPrefix);
        if (std::exchange(names_paths ? has_paths : has_policy, true)) {
            return failure(EINVAL, "'{}' names {} twice", text, names_paths ? "paths" : "a policy");
        }
        if (names_paths) {
            auto subset = parse_subset(part.substr(kPathPrefix.size()), path_names);
            if (!subset) {
                return tl::unexpected<Error>(subset.error());
            }
            setting.paths = *subset;
        } else if (auto policy = make_io_policy(part, path_names); policy) {
            setting.policy = part;
        } else {
            return tl::unexpected<Error>(policy.error());
        }
    }
    return setting;
}

Result<SteerSchedule> parse_steer(std::string_view text, SteerOrder order, Nanoseconds settle,
                                  const Setting& base, std::span<const std::string> path_names) {
    SteerSchedule schedule;
    schedule.order = order;
    for (const std::string_view step : split(text, ',')) {
        const std::size_t at = step.rfind('@');
        if (at == std::string_view::npos) {
            return failure(EINVAL, "steer={}: '{}' is not SETTING@DURATION, such as queue-depth@10s", text,
                           step);
        }
        auto setting = parse_setting(trimmed(step.substr(0, at)), base, path_names);
        if (!setting) {
            return failure(setting.error().code, "steer={}: {}", text, setting.error().text);
        }
        const auto duration = parse_duration(trimmed(step.substr(at + 1)));
        if (!duration) {
            return failure(EINVAL, "steer={}: {}", text, duration.error().text);
        }
        if (*duration <= settle) {
            return failure(EINVAL,
                           "steer={}: nothing of '{}' is left when the first {} ms after a switch are kept "
                           "apart; make it longer, or steer_settle= shorter",
                           text, step, settle / kMillisecond);
        }
        const auto known = std::find(schedule.settings.begin(), schedule.settings.end(), *setting);
        const auto index = static_cast<std::size_t>(known - schedule.settings.begin());
        if (known == schedule.settings.end()) {
            schedule.settings.push_back(std::move(*setting));
        }
        schedule.steps.push_back({index, *duration});
    }
    if (schedule.settings.size() > kMostSettings) {
        return failure(EINVAL, "steer= has {} different settings, and a job keeps at most {} apart",
                       schedule.settings.size(), kMostSettings);
    }
    return schedule;
}

Nanoseconds SteerSchedule::unit_length() const {
    Nanoseconds length = 0;
    for (const Step& step : steps) {
        length += step.duration;
    }
    return order == SteerOrder::abba ? 2 * length : length;
}

SteerStop SteerSchedule::at(Nanoseconds time) const {
    const Nanoseconds length = std::max<Nanoseconds>(unit_length(), 1); // no step lasts no time
    SteerStop stop;
    stop.unit = time / length;
    stop.begin = stop.unit * length;
    for (const std::size_t index : pass(*this, stop.unit)) {
        stop.setting = steps[index].setting;
        stop.end = stop.begin + steps[index].duration;
        if (time < stop.end) {
            break;
        }
        stop.begin = stop.end;
    }
    return stop;
}

} // namespace mpath::multipath
