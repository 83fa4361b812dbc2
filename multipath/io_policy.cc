// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/io_policy.h"

#include <array>

#include <fmt/ranges.h>

#include "multipath/numa.h"
#include "multipath/queue_depth.h"
#include "multipath/round_robin.h"

namespace mpath::multipath {

namespace {

constexpr std::array<std::string_view, 3> kNames = {"round-robin", "queue-depth", "numa"};

} // namespace

Result<std::unique_ptr<IoPolicy>> make_io_policy(std::string_view name) {
    if (name == "round-robin") {
        return std::make_unique<RoundRobin>();
    }
    if (name == "queue-depth") {
        return std::make_unique<QueueDepth>();
    }
    if (name == "numa") {
        return std::make_unique<Numa>();
    }
    return failure(EINVAL, "iopolicy={} is not a policy; known are {}", name, fmt::join(kNames, ", "));
}

std::span<const std::string_view> io_policy_names() noexcept {
    return kNames;
}

} // namespace mpath::multipath
