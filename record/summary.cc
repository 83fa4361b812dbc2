// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "record/table.h"

namespace mpath::record {

namespace {

/// A member of a summary; the higher `dispensable`, the sooner it is given up when the value would be cut.
struct Member {
    const char* name;
    std::string value; ///< JSON
    int dispensable = 0;
};

std::string object_of(std::span<const Member> members) {
    int kept = 0;
    for (const Member& member : members) {
        kept = std::max(kept, member.dispensable);
    }
    for (;; --kept) {
        std::string object;
        for (const Member& member : members) {
            if (member.dispensable <= kept) {
                object += fmt::format(R"({}"{}":{})", object.empty() ? "{" : ",", member.name, member.value);
            }
        }
        object += "}";
        if (object.size() <= kJobOptionBytes || kept == 0) {
            return object;
        }
    }
}

std::string number(std::uint64_t value) {
    return fmt::format("{}", value);
}

std::string number_or_null(Maybe value) {
    return value ? number(*value) : "null";
}

/// Of at least one.
std::array<Member, 5> time_members(const OperationResult& times) {
    return {Member{"mean", number(static_cast<std::uint64_t>(times.moments.mean()))},
            Member{"p50", number(times.percentile(50).value_or(0)), 2},
            Member{"p99", number(times.percentile(99).value_or(0))},
            Member{"p999", number(times.percentile(99.9).value_or(0)), 1},
            Member{"max", number(times.moments.max)}};
}

} // namespace

std::string job_summary(const JobResult& job) {
    Maybe gap;
    for (const Event& event : job.events) {
        gap = std::max(gap, event.gap); // an empty one is less than any other
    }
    std::uint64_t requeues = 0;
    Maybe exposed = 0;
    for (const PathResult& path : job.paths) {
        requeues += path.requeues;
        exposed = sum(exposed, path.exposed_writes);
    }
    const auto of_held = [&](std::uint64_t HoldResult::*value) {
        return number_or_null(job.held ? Maybe((*job.held).*value) : std::nullopt);
    };
    return object_of(std::array{
        Member{"gap", number_or_null(gap)}, Member{"requeues", number(requeues)},
        Member{"exposed", number_or_null(exposed)}, Member{"held", of_held(&HoldResult::count)},
        Member{"held_max", of_held(&HoldResult::max), 2}, Member{"no_path", of_held(&HoldResult::failed), 1},
        Member{"events", number(job.events.size() + job.events_dropped), 3}});
}

std::string path_summary(const PathResult& path, Nanoseconds measured) {
    const std::string state = path.state ? fmt::format("\"{}\"", to_string(*path.state)) : "null";
    const std::string depth =
        measured == 0
            ? "null"
            : fmt::format("{:.2f}", static_cast<double>(path.depth.area) / static_cast<double>(measured));
    return object_of(std::array{Member{"state", state}, Member{"depth", depth},
                                Member{"requeues", number(path.requeues)},
                                Member{"retries", number_or_null(path.retries), 2},
                                Member{"exposed", number_or_null(path.exposed_writes), 1},
                                Member{"errors", number(path.error_count())}});
}

std::string requeue_summary(const PathResult& path) {
    if (!path.requeue_delay || path.requeue_delay->count() == 0) {
        return "null";
    }
    const auto [mean, p50, p99, p999, max] = time_members(*path.requeue_delay);
    return object_of(
        std::array{Member{"ios", number(path.requeue_delay->count())}, mean, p50, p99, p999, max});
}

std::string operation_summary(const OperationResult& operation) {
    if (operation.count() == 0) {
        return "null";
    }
    const auto [mean, p50, p99, p999, max] = time_members(operation);
    return object_of(std::array{Member{"ios", number(operation.moments.count)},
                                Member{"bytes", number(operation.moments.bytes)}, mean, p50, p99, p999, max});
}

} // namespace mpath::record
