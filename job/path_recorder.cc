// SPDX-License-Identifier: GPL-2.0-only
#include "job/path_recorder.h"

#include <limits>
#include <utility>

#include "live/snapshot.h"

namespace mpath::job {

Result<PathRecorder> PathRecorder::create(const std::string& file, const live::JobSlot& slot) {
    auto writer = record::PathLogWriter::create(file, live::path_names(slot));
    if (!writer) {
        return tl::unexpected<Error>(writer.error());
    }
    return PathRecorder(slot, std::move(*writer));
}

Result<void> PathRecorder::add(record::Interval interval) {
    const std::optional<record::Interval> before = std::exchange(held_back_, std::move(interval));
    return before ? write(*before, before->monotonic) : Result<void>{};
}

Result<void> PathRecorder::finish() {
    const std::optional<record::Interval> last = std::exchange(held_back_, std::nullopt);
    return last ? write(*last, std::numeric_limits<Nanoseconds>::max()) : Result<void>{};
}

Result<void> PathRecorder::write(const record::Interval& interval, Nanoseconds until) {
    const record::PathLogPart part{interval, switches(until), events(until)};
    told_until_ = until;
    return writer_.append(part, slot_->counters.measuring_since.get());
}

std::vector<record::Switch> PathRecorder::switches(Nanoseconds until) {
    std::vector<record::Switch> found;
    for (const record::Visit& visit : slot_->visits.visits(next_visit_, live::setting_names(*slot_))) {
        if (visit.began > until) {
            break;
        }
        const bool next =
            visit.number == next_visit_; // else there were others, and nobody knows them any more
        const bool first = visit.began <= slot_->counters.measuring_since.get();
        if (visit.cause != record::VisitCause::start && !first) {
            record::Switch change{visit.began, std::nullopt, visit.setting, visit.cause, std::nullopt};
            if (next && !setting_before_.empty()) {
                change.from = setting_before_;
            }
            if (visit.first_io) {
                change.delay = *visit.first_io - visit.asked;
            }
            found.push_back(std::move(change));
        }
        setting_before_ = visit.setting;
        next_visit_ = visit.number + 1;
    }
    return found;
}

std::vector<record::Event> PathRecorder::events(Nanoseconds until) const {
    std::vector<record::Event> found;
    for (record::Event& event : slot_->events.events()) {
        if (event.monotonic > told_until_ && event.monotonic <= until) {
            found.push_back(std::move(event));
        }
    }
    return found;
}

} // namespace mpath::job
