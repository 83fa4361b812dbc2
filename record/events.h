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
    connected,         ///< again, after it was lost; the connects before a job's first I/O are no events
    lost,              ///< the connection broke, or the controller stopped answering
    state,             ///< the state of its path group changed
    refused,           ///< a connect failed: the job began without the path, or a lost one did not come back
    failing,           ///< fast_io_fail_tmo is over: I/O no longer waits for the path
    given_up,          ///< ctrl_loss_tmo is over, or the target refused for good: it is not tried again
    namespace_changed, ///< the namespace was resized, removed or exchanged
};

inline constexpr std::array kEventKinds{EventKind::connected,        EventKind::lost,    EventKind::state,
                                        EventKind::refused,          EventKind::failing, EventKind::given_up,
                                        EventKind::namespace_changed};

std::string_view to_string(EventKind kind);

inline constexpr std::uint16_t kNoPath = 0xFFFF;

struct Event {
    Nanoseconds utc = 0;
    Nanoseconds monotonic = 0;
    std::uint16_t path = kNoPath; ///< index among the job's paths; kNoPath: the job as a whole
    EventKind kind = EventKind::state;
    std::string text; ///< one line for people: "optimized -> inaccessible"

    // What it did to the job's I/O. Empty: nobody measured it, or it can do nothing.
    std::optional<Nanoseconds> gap{};              ///< longest time without a completion that it caused
    std::optional<std::uint64_t> requeues{};       ///< I/Os sent again because of it
    std::optional<std::uint64_t> exposed_writes{}; ///< of these, writes that may have been executed before
    /// From when it happened to when we knew; only where somebody told when it happened (a fault log).
    std::optional<Nanoseconds> detection{};

    /// Whose event it is, where the results of several jobs are told together; not in a record.
    std::string job{};

    bool operator==(const Event&) const = default;
};

} // namespace mpath::record
