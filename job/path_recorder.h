// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "live/job_slot.h"
#include "record/path_log.h"

namespace mpath::job {

/// Keeps a job's path log: intervals, with the switches and events between them in the order of time. An
/// interval is written when the next one has ended, because an event may be known a moment after it happened,
/// and a switch's delay when its first I/O was sent. Not for the I/O thread.
class PathRecorder {
public:
    static Result<PathRecorder> create(const std::string& file, const live::JobSlot& slot);

    Result<void> add(record::Interval interval);
    /// When the job has ended: what was held back.
    Result<void> finish();

private:
    PathRecorder(const live::JobSlot& slot, record::PathLogWriter writer)
        : slot_(&slot), writer_(std::move(writer)) {}

    Result<void> write(const record::Interval& interval, Nanoseconds until);
    [[nodiscard]] std::vector<record::Switch> switches(Nanoseconds until);
    [[nodiscard]] std::vector<record::Event> events(Nanoseconds until) const;

    const live::JobSlot* slot_;
    record::PathLogWriter writer_;
    std::optional<record::Interval> held_back_;
    Nanoseconds told_until_ = 0;
    std::uint64_t next_visit_ = 1;
    std::string setting_before_; ///< of the visit before that
};

} // namespace mpath::job
