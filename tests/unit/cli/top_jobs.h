// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/top_view.h"

namespace mpath::cli {

inline constexpr Nanoseconds kSomeDay = 1'790'000'000 * kSecond; ///< 2026-09-21T14:13:20Z

inline record::IntervalPath numbers_of(const std::string& name, std::uint64_t reads,
                                       std::uint64_t writes = 0) {
    record::IntervalPath path;
    path.name = name;
    for (std::uint64_t i = 0; i < reads; ++i) {
        path.operations[0].moments.add(100 * kMicrosecond, 4096);
    }
    for (std::uint64_t i = 0; i < writes; ++i) {
        path.operations[1].moments.add(200 * kMicrosecond, 8192);
    }
    if (reads > 0) {
        path.operations[0].p99 = 150 * kMicrosecond;
    }
    path.mean_depth = 1.5;
    path.requeues = 3;
    path.errors = 4;
    return path;
}

/// A job with the paths a (that does I/O) and b (disabled), half a second after the last view.
inline TopJob running_job(const std::string& name = "seq", std::uint32_t number = 1, std::uint64_t run = 42) {
    TopJob job;
    job.run = run;
    job.number = number;
    job.name = job.label = name;
    job.standing = live::JobStanding::running;
    job.setting = "path:a";
    job.policy = "numa";
    job.visit = 7;
    job.cause = record::VisitCause::command;
    job.paths = {{"a", PathState::optimized, true}, {"b", PathState::non_optimized, false}};
    job.interval.emplace();
    job.interval->length = kSecond / 2;
    job.interval->paths = {numbers_of("a", 500), numbers_of("b", 0)};
    return job;
}

inline TopJob waiting_job(const std::string& name = "late", std::uint32_t number = 2) {
    TopJob job = running_job(name, number);
    job.standing = live::JobStanding::prepared;
    job.interval.reset();
    job.visit.reset();
    job.cause.reset();
    return job;
}

inline TopJob ended_job(const std::string& name = "early") {
    TopJob job = running_job(name, 3);
    job.standing = live::JobStanding::ended;
    return job;
}

inline TopView view_of(std::vector<TopJob> jobs) {
    return {kSomeDay, std::move(jobs)};
}

} // namespace mpath::cli
