// SPDX-License-Identifier: GPL-2.0-only
#include "job/visit_recorder.h"

#include <limits>

#include "live/snapshot.h"

namespace mpath::job {

Result<void> VisitRecorder::checkpoint() {
    if (auto made = make_writer(); !made || !writer_) {
        return made;
    }
    auto written = write_those_before(first_open_);
    look_who_is_done();
    return written;
}

Result<void> VisitRecorder::finish() {
    if (auto made = make_writer(); !made || !writer_) {
        return made;
    }
    if (auto written = write_those_before(std::numeric_limits<std::uint64_t>::max()); !written) {
        return written;
    }
    const record::FoldedTally rest = not_written();
    return rest == record::FoldedTally{} ? Result<void>{} : writer_->append(rest);
}

/// Once there is something to tell. What came before the end of the ramp is forgotten, and has no line
/// either.
Result<void> VisitRecorder::make_writer() {
    const bool steered = slot_.steered.get() != 0 || slot_.visits.last() > 1;
    if (writer_ || slot_.counters.measuring_since.get() == 0 || !steered) {
        return {};
    }
    return record::VisitWriter::create(file_).map(
        [this](record::VisitWriter writer) { writer_ = std::move(writer); });
}

Result<void> VisitRecorder::write_those_before(std::uint64_t number) {
    for (const record::Visit& visit : slot_.visits.visits(next_, live::setting_names(slot_))) {
        if (visit.number >= number) {
            break;
        }
        next_ = visit.number + 1;
        written_.add(visit);
        if (auto written = writer_->append(visit); !written) {
            return written;
        }
    }
    return {};
}

void VisitRecorder::look_who_is_done() {
    for (const std::uint64_t last = slot_.visits.last(); first_open_ < last; ++first_open_) {
        const live::VisitSlot* visit = slot_.visits.find(first_open_);
        if (visit != nullptr && (visit->ended.get_acquire() == 0 || visit->open.get() != 0)) {
            return;
        }
    }
}

/// Everything that was counted, but for what has lines.
record::FoldedTally VisitRecorder::not_written() const {
    const live::FoldedVisits& folded = slot_.visits.folded();
    record::Visit sum;
    for (std::size_t index = 0; index < kOperations; ++index) {
        sum.transition[index] = folded.transition.operations[index].snapshot();
        sum.steady[index] = folded.steady.operations[index].snapshot();
    }
    record::FoldedTally rest;
    rest.add(sum);
    rest.visits = folded.visits.get();
    for (const record::Visit& visit : slot_.visits.visits(1, {})) {
        rest.add(visit);
    }
    rest.subtract(written_);
    return rest;
}

} // namespace mpath::job
