// SPDX-License-Identifier: GPL-2.0-only
#include "live/visit_log.h"

#include <algorithm>

namespace mpath::live {

namespace {

void add(record::MomentCounters& into, const record::MomentCounters& from) noexcept {
    const record::Moments moments = from.snapshot();
    if (moments.count == 0) {
        return;
    }
    into.bytes.add(moments.bytes);
    into.sum.add(moments.sum);
    into.sum_of_squares.add(moments.sum_of_squares);
    into.min.see(moments.min);
    into.max.see(moments.max);
    into.count.set_published(into.count.get() + moments.count);
}

void add(VisitPart& into, const VisitPart& from) noexcept {
    for (std::size_t index = 0; index < kOperations; ++index) {
        add(into.operations[index], from.operations[index]);
    }
}

void merge(std::array<record::Moments, kOperations>& into, const VisitPart& part) {
    for (std::size_t index = 0; index < kOperations; ++index) {
        into[index].merge(part.operations[index].snapshot());
    }
}

std::array<record::Moments, kOperations> moments(const VisitPart& part) {
    std::array<record::Moments, kOperations> values;
    merge(values, part);
    return values;
}

std::optional<Nanoseconds> time_of(const record::Word& word) {
    const Nanoseconds time = word.get();
    return time == 0 ? std::nullopt : std::optional(time);
}

record::Visit value(const VisitSlot& slot, std::uint64_t number, const std::vector<std::string>& names) {
    record::Visit visit;
    visit.number = number;
    const std::uint64_t setting = slot.setting.get();
    visit.setting = setting < names.size() ? names[setting] : "";
    visit.cause = static_cast<record::VisitCause>(slot.cause.get());
    visit.unit = slot.unit.get();
    visit.asked = slot.asked.get();
    visit.began = slot.began.get();
    visit.first_io = time_of(slot.first_io);
    visit.settled = time_of(slot.settled);
    visit.ended = time_of(slot.ended);
    visit.disturbances = slot.disturbances.get();
    visit.transition = moments(slot.transition);
    visit.steady = moments(slot.steady);
    return visit;
}

} // namespace

VisitSlot& VisitLog::begin() noexcept {
    const std::uint64_t number = last_.get() + 1;
    VisitSlot& slot = visits_[number % kCapacity];
    if (slot.number.get() != 0) {
        folding_.set_release(folding_.get() + 1);
        add(folded_.transition, slot.transition);
        add(folded_.steady, slot.steady);
        folded_.visits.add();
        slot = {};
        folding_.set_release(folding_.get() + 1);
    }
    slot.number.set_release(number);
    last_.set_release(number);
    return slot;
}

void VisitLog::forget() noexcept {
    const std::uint64_t latest = last_.get();
    folding_.set_release(folding_.get() + 1);
    folded_ = {};
    for (VisitSlot& slot : visits_) {
        if (slot.number.get() != latest) {
            slot = {};
        } else {
            slot.transition = {};
            slot.steady = {};
            slot.disturbances.set(0);
        }
    }
    folding_.set_release(folding_.get() + 1);
}

std::vector<record::Visit> VisitLog::visits(std::uint64_t number,
                                            const std::vector<std::string>& names) const {
    std::vector<record::Visit> found;
    const std::uint64_t latest = last();
    const std::uint64_t oldest = latest >= kCapacity ? latest - kCapacity + 1 : 1;
    for (std::uint64_t next = std::max(number, oldest); next <= latest; ++next) {
        const VisitSlot& slot = visits_[next % kCapacity];
        record::Visit visit = value(slot, next, names);
        if (slot.number.get_acquire() == next) { // else it was folded, or forgotten, in the meantime
            found.push_back(std::move(visit));
        }
    }
    return found;
}

std::array<record::Moments, kOperations> VisitLog::totals() const {
    std::array<record::Moments, kOperations> sum;
    for (int attempt = 0; attempt < 3; ++attempt) { // a killed job may have stopped while folding
        const std::uint64_t before = folding_.get_acquire();
        sum = {};
        merge(sum, folded_.transition);
        merge(sum, folded_.steady);
        for (const VisitSlot& slot : visits_) {
            if (slot.number.get_acquire() != 0) {
                merge(sum, slot.transition);
                merge(sum, slot.steady);
            }
        }
        if (before % 2 == 0 && folding_.get_acquire() == before) {
            break;
        }
    }
    return sum;
}

} // namespace mpath::live
