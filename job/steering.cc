// SPDX-License-Identifier: GPL-2.0-only
#include "job/steering.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "live/snapshot.h"
#include "multipath/io_policy.h"

namespace mpath::job {
namespace {

using live::kFirstSetting;
using live::kTransitionSetting;
using record::VisitCause;

/// How often a job looks whether the common clock has begun.
constexpr Nanoseconds kClockChecks = kMillisecond;

/// Index in the slot of a schedule's setting: the transition lies behind the first.
constexpr std::uint64_t slot_setting(std::size_t setting) {
    return setting == 0 ? kFirstSetting : setting + 1;
}

} // namespace

Steering::Steering(live::JobSlot& slot, multipath::PathSet& paths, Nanoseconds settle,
                   std::optional<SteerPlan> plan)
    : slot_(slot), paths_(paths), path_names_(live::path_names(slot)), settle_(settle),
      plan_(std::move(plan)) {}

void Steering::begin(Nanoseconds now) noexcept {
    static_cast<void>(go_to(kFirstSetting));
    visit(kFirstSetting, VisitCause::start, now, now);
    settle_now(now); // nothing came before it
    if (plan_) {     // what comes before the schedule belongs to none of its visits
        waits_for_clock_ = true;
        counts_in_ = kTransitionSetting;
        visit_->settled.set(0);
    }
}

bool Steering::look(Nanoseconds now, std::uint32_t outstanding) noexcept {
    bool moved = false;
    if (slot_.mailbox.requested.get_acquire() != heard_) {
        moved = hear(now);
    }
    const bool by_schedule = plan_ && !commanded_ && slot_.counters.measuring_since.get() != 0;
    if (by_schedule) {
        moved = follow_schedule(now) || moved;
    }
    settle_if_drained(now, outstanding);
    due_ = settle_at_;
    if (by_schedule) {
        due_ = std::min(due_, waits_for_clock_ ? now + kClockChecks : plan_->clock.began(now) + stop_end_);
    }
    return moved;
}

// ---- requests from outside

bool Steering::hear(Nanoseconds now) noexcept {
    live::Mailbox& mailbox = slot_.mailbox;
    const std::uint64_t request = mailbox.requested.get_acquire();
    const std::uint64_t setting = mailbox.setting.get();
    // It may have been laid down since the clock was read.
    const Nanoseconds asked = std::min(mailbox.requested_at.get(), now);
    int refused = 0;
    bool moved = false;
    if (setting == live::kFollowSchedule) {
        refused = plan_ ? 0 : ENOENT;
        if (plan_ && std::exchange(commanded_, false)) {
            stop_end_ = 0; // wherever the schedule is by now
        }
    } else if (slot_.transition_kept.get() == 0 || !go_to(setting)) {
        refused = EINVAL;
    } else {
        commanded_ = true;
        waits_for_clock_ = false;
        visit(setting, VisitCause::command, asked, now);
        moved = true;
    }
    heard_ = request;
    mailbox.refused.set(static_cast<std::uint64_t>(refused));
    mailbox.acknowledged_at.set(now);
    mailbox.acknowledged.set_release(request);
    return moved;
}

// ---- the schedule

bool Steering::follow_schedule(Nanoseconds now) noexcept {
    const Nanoseconds began = plan_->clock.began(now);
    if (began == 0) {
        return false;
    }
    const bool first = std::exchange(waits_for_clock_, false);
    if (!first && now < began + stop_end_) {
        return false;
    }
    const multipath::SteerStop stop = plan_->schedule.at(std::max(now, began) - began);
    stop_end_ = stop.end;
    const std::uint64_t setting = slot_setting(stop.setting);
    if (!go_to(setting)) {
        return false;
    }
    visit(setting, VisitCause::schedule, began + stop.begin, now);
    visit_->unit.set(stop.unit);
    return true;
}

// ---- visits

/// Policy and paths become those of the setting.
bool Steering::go_to(std::uint64_t setting) noexcept {
    if (setting == kTransitionSetting || setting >= slot_.settings_named.get_acquire()) {
        return false;
    }
    live::SettingSlot& to = slot_.settings[setting];
    auto policy = multipath::make_io_policy(to.policy.get(), path_names_);
    if (!policy) {
        return false;
    }
    if (to.rules.get().empty()) {
        to.rules.set((*policy)->semantics());
    }
    paths_.steer(std::move(*policy), to.paths.get());
    return true;
}

void Steering::visit(std::uint64_t setting, VisitCause cause, Nanoseconds asked, Nanoseconds now) noexcept {
    if (visit_ != nullptr) {
        end_visit(now);
    }
    visit_ = &slot_.visits.begin();
    number_ = visit_->number.get();
    open_ = 0;
    visit_->setting.set(setting);
    visit_->cause.set(static_cast<std::uint64_t>(cause));
    visit_->asked.set(asked);
    visit_->began.set(now);
    slot_.settings[setting].visits.add();
    slot_.setting_in_force.set(setting);
    setting_ = setting;
    counts_in_ = kTransitionSetting;
    first_io_awaited_ = true;
    settle_at_ = now + settle_;
    due_ = settle_at_;
}

void Steering::end_visit(Nanoseconds now) noexcept {
    visit_->open.set(open_);
    visit_->ended.set_release(now);
    if (const Nanoseconds settled = visit_->settled.get(); settled != 0) {
        slot_.settings[setting_].steady_time.add(now - settled);
    }
}

/// I/Os of earlier visits are those that are outstanding and not of this one.
void Steering::settle_if_drained(Nanoseconds now, std::uint32_t outstanding) noexcept {
    if (now >= settle_at_ && !waits_for_clock_ && open_ == outstanding) {
        settle_now(now);
    }
}

void Steering::settle_now(Nanoseconds now) noexcept {
    settle_at_ = multipath::kNever;
    counts_in_ = static_cast<std::uint16_t>(setting_);
    visit_->settled.set(now);
}

void Steering::end(Nanoseconds now) noexcept {
    if (visit_ != nullptr && visit_->ended.get() == 0) {
        end_visit(now);
    }
}

void Steering::disturb() noexcept {
    if (visit_->disturbances.get() == 0) {
        slot_.settings[setting_].disturbed_visits.add();
    }
    visit_->disturbances.add();
}

void Steering::reset(Nanoseconds now) noexcept {
    slot_.visits.forget();
    for (live::SettingSlot& setting : slot_.settings) {
        setting.steady_time.set(0);
        setting.visits.set(0);
        setting.disturbed_visits.set(0);
    }
    slot_.settings[setting_].visits.set(1);
    if (visit_->first_io.get() != 0) {
        visit_->first_io.set(now);
    }
    if (visit_->settled.get() != 0) {
        visit_->settled.set(now);
    }
    visit_->began.set(now);
    due_ = now;
}

// ---- I/O

void Steering::note_first_io(Nanoseconds now) noexcept {
    first_io_awaited_ = false;
    visit_->first_io.set(now);
    if (static_cast<VisitCause>(visit_->cause.get()) != VisitCause::start) {
        slot_.counters.switch_delay.add(now - visit_->asked.get());
    }
}

live::VisitPart& Steering::earlier_part(const Request& request) noexcept {
    if (live::VisitSlot* visit = slot_.visits.find(request.visit)) {
        return part_of(*visit, request);
    }
    live::FoldedVisits& folded = slot_.visits.folded();
    return request.setting == kTransitionSetting ? folded.transition : folded.steady;
}

void Steering::give_back_to_earlier(const Request& request) noexcept {
    if (live::VisitSlot* visit = slot_.visits.find(request.visit)) {
        visit->open.subtract();
    }
}

} // namespace mpath::job
