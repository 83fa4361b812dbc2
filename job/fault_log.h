// SPDX-License-Identifier: GPL-2.0-only
// When a path's trouble really began: what `fio-mpath target --fault-log=FILE` wrote down, laid beside the
// events that a job noticed. Looked at when a job has ended, never while it runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "record/events.h"

namespace mpath::job {

struct Fault {
    Nanoseconds monotonic = 0;
    Nanoseconds utc = 0;
    std::string address; ///< of the listener, numeric: "127.0.0.1:4420"
    bool begins = true;  ///< false: it ended, after its time or because it was healed
};

/// Everything in the log, in its order; a last line that is not whole yet is left out. What is in the log
/// beside a fault's times, address and phase is ignored. Errors: it can't be read, or a line is no fault.
Result<std::vector<Fault>> read_fault_log(const std::string& file);

/// How long it took to notice events[index]: since the latest fault at `address` before the event and after
/// the event of the same path before it. A loss is the work of a fault that begins, a state may come back
/// with its end. Empty for other kinds of events, without such a fault, and for faults of another host or of
/// a time before it was booted, whose monotonic clock is another one.
std::optional<Nanoseconds> detection_of(std::span<const record::Event> events, std::size_t index,
                                        std::string_view address, std::span<const Fault> faults);

} // namespace mpath::job
