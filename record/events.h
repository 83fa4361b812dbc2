// SPDX-License-Identifier: GPL-2.0-only
// What happened to a path, and when.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace mpath::record {

enum class EventKind : std::uint8_t {
    connected, ///< again, after it was lost; the connects before a job's first I/O are no events
    lost,      ///< the connection broke, or the controller stopped answering
    state,     ///< the state of its path group changed
    refused,   ///< it could not be connected and the job began without it
};

inline constexpr std::array kEventKinds{EventKind::connected, EventKind::lost, EventKind::state,
                                        EventKind::refused};

std::string_view to_string(EventKind kind);
std::optional<EventKind> event_kind_from(std::string_view text);

inline constexpr std::uint16_t kNoPath = 0xFFFF;

struct Event {
    Nanoseconds utc = 0;
    Nanoseconds monotonic = 0;
    std::uint16_t path = kNoPath; ///< index among the job's paths; kNoPath: the job as a whole
    EventKind kind = EventKind::state;
    std::string text; ///< one line for people: "optimized -> inaccessible"

    bool operator==(const Event&) const = default;
};

} // namespace mpath::record
