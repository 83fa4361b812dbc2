// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/io_policy.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "multipath/latency.h"
#include "multipath/numa.h"
#include "multipath/preferred.h"
#include "multipath/queue_depth.h"
#include "multipath/round_robin.h"
#include "multipath/service_time.h"

namespace mpath::multipath {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"round-robin",  "queue-depth", "numa",
                                                    "service-time", "latency",     "preferred:NAME"};
constexpr std::string_view kPreferred = "preferred:";

Result<std::unique_ptr<IoPolicy>> make_preferred(std::string_view text,
                                                 std::span<const std::string> path_names) {
    const auto found = std::find(path_names.begin(), path_names.end(), text.substr(kPreferred.size()));
    if (found == path_names.end()) {
        return failure(EINVAL, "iopolicy={} names none of the job's paths, which are {}", text,
                       fmt::join(path_names, ", "));
    }
    return std::make_unique<Preferred>(std::string(text),
                                       static_cast<std::uint16_t>(found - path_names.begin()),
                                       static_cast<std::uint16_t>(path_names.size()));
}

} // namespace

Result<std::unique_ptr<IoPolicy>> make_io_policy(std::string_view text,
                                                 std::span<const std::string> path_names) {
    if (text == "round-robin") {
        return std::make_unique<RoundRobin>();
    }
    if (text == "queue-depth") {
        return std::make_unique<QueueDepth>();
    }
    if (text == "numa") {
        return std::make_unique<Numa>();
    }
    if (text == "service-time") {
        return std::make_unique<ServiceTime>(path_names.size());
    }
    if (text == "latency") {
        return std::make_unique<Latency>(path_names.size());
    }
    if (text.starts_with(kPreferred)) {
        return make_preferred(text, path_names);
    }
    return failure(EINVAL, "iopolicy={} is not a policy; known are {}", text, fmt::join(kNames, ", "));
}

std::span<const std::string_view> io_policy_names() noexcept {
    return kNames;
}

} // namespace mpath::multipath
