// SPDX-License-Identifier: GPL-2.0-only
// What steering did: settings, and the visits a job made to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "path/request.h"
#include "record/moments.h"

namespace mpath::record {

/// Name of what is kept apart around a switch: the "setting" that I/Os submitted in a transition count in.
inline constexpr std::string_view kTransition = "transition";

/// Why a visit began.
enum class VisitCause : std::uint8_t {
    start,    ///< of the job, or it waits for the schedule's clock to begin
    schedule, ///< steer= said so
    command,  ///< somebody asked for it from outside
};

inline constexpr std::array kVisitCauses{VisitCause::start, VisitCause::schedule, VisitCause::command};

std::string_view to_string(VisitCause cause);

/// One stretch of a job in one setting. An I/O belongs to the visit in which it was submitted. Times are
/// CLOCK_MONOTONIC; response times are the job's: from the first queue() to the final completion.
struct Visit {
    std::uint64_t number = 0; ///< from 1
    std::string setting;
    VisitCause cause = VisitCause::start;
    std::optional<std::uint64_t>
        unit;              ///< which pass of the schedule it belongs to, from 0; only with schedule
    Nanoseconds asked = 0; ///< when the schedule or the command wanted it
    Nanoseconds began = 0; ///< when the job went to it
    std::optional<Nanoseconds> first_io;         ///< when its first I/O was dispatched
    std::optional<Nanoseconds> settled;          ///< end of its transition; empty: it ended before
    std::optional<Nanoseconds> ended;            ///< empty: the job has not left it yet
    std::uint64_t disturbances = 0;              ///< path events that the job's I/O noticed in it
    std::array<Moments, kOperations> transition; ///< of I/Os submitted before it had settled
    std::array<Moments, kOperations> steady;     ///< of those after

    bool operator==(const Visit&) const = default;
};

} // namespace mpath::record
