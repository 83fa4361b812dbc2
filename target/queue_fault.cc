// SPDX-License-Identifier: GPL-2.0-only
// The fourth part of Queue: what a script has done to single commands, and the events that it leads to.
#include <bit>
#include <utility>

#include "target/queue.h"

namespace mpath::target {

Subject Queue::subject() const {
    if (role_ == Role::unconnected) {
        return {};
    }
    return {.controller = controller_->id(), .queue = qid_};
}

Subject Queue::subject_of(const nvme::Sqe& sqe) const {
    Subject about = subject();
    about.command = &sqe;
    if (sqe.opcode == nvme::kFabricsOpcode) {
        if ((sqe.nsid & 0xff) == static_cast<std::uint32_t>(nvme::FabricsType::connect)) {
            about.queue = std::bit_cast<nvme::ConnectCommand>(sqe).qid;
        }
    } else if (role_ == Role::io && sqe.nsid >= 1 && sqe.nsid <= subsystem_.namespace_count()) {
        about.group = subsystem_.group_of(sqe.nsid);
    }
    return about;
}

/// What has to be settled when a command arrives. Precondition: it is fine so far.
void Queue::afflict(Command& command) {
    Faults& faults = listener_.faults;
    const Subject about = subject_of(command.sqe);
    const Action* failure = faults.take(ActionKind::fail, about);
    if (failure == nullptr) {
        failure = faults.take(ActionKind::reject_connects, about);
    }
    if (failure != nullptr) {
        command.plan.status = failure->status;
        if (controller_ == nullptr || !controller_->heeds_retry_delays) {
            command.plan.status = command.plan.status.without_crd();
        }
        ++listener_.counters.failed;
        return;
    }
    if (const Action* slow = faults.take(ActionKind::delay, about); slow != nullptr) {
        command.delay = slow->duration;
    }
    if (command.is_io && command.sqe.opcode == nvme::io_opcode::kWrite) {
        if (const Action* hold = faults.take(ActionKind::hold_writes, about); hold != nullptr) {
            command.held = true;
            command.delay = hold->duration;
            ++listener_.counters.held_writes;
        }
    }
}

/// What has to be settled when it is answered.
void Queue::prepare_answer(const Command& command) {
    Faults& faults = listener_.faults;
    was_faulty_ = !faults.empty();
    const Subject about = subject_of(command.sqe);
    const bool waits_for_event =
        role_ == Role::admin && command.sqe.opcode == nvme::admin_opcode::kAsyncEventRequest;
    muted_ = !waits_for_event && faults.take(ActionKind::mute, about) != nullptr;
    listener_.counters.muted += muted_ ? 1 : 0;
    const Action* split = faults.find(ActionKind::split_data, about);
    writer_.limit_data(split == nullptr ? 0 : static_cast<std::uint32_t>(split->number));
    if (muted_ || !command.plan.status.ok()) {
        return;
    }
    const bool has_data = !command.is_io || command.sqe.opcode == nvme::io_opcode::kRead;
    const bool header = faults.take(ActionKind::flip_header, about) != nullptr;
    const bool data = has_data && faults.take(ActionKind::flip_data, about) != nullptr;
    if (header || data) {
        writer_.flip_next(header, data);
    }
}

AnswerMixer* Queue::mixer() {
    if (subsystem_.options().reorder) {
        return mixer_.get();
    }
    if (listener_.faults.empty() || role_ != Role::io ||
        listener_.faults.find(ActionKind::reorder, subject()) == nullptr) {
        return nullptr; // one that is there still gives what it has kept
    }
    if (mixer_ == nullptr) {
        own_variation_ =
            std::make_unique<Variation>(subsystem_.options().seed, listener_.counters.connections);
        mixer_ = std::make_unique<AnswerMixer>(writer_, *own_variation_);
    }
    return mixer_.get();
}

void Queue::deliver_events() {
    while (has_news()) {
        const std::uint16_t slot = event_slots_.front();
        event_slots_.pop_front();
        --controller_->async_events_waiting;
        const Command& command = commands_[slot];
        const std::uint32_t event = controller_->events.take();
        muted_ = listener_.faults.find(ActionKind::mute, subject_of(command.sqe)) != nullptr;
        ++(muted_ ? listener_.counters.muted : listener_.counters.events);
        respond(command, nvme::Status(), event);
        muted_ = false;
        finish(slot);
    }
}

/// The connection is lost. What had not come of a write's data never will.
void Queue::give_up_held_writes() {
    for (const std::uint16_t slot : held_slots_) {
        Command& command = commands_[slot];
        command.buffer.resize(command.plan.from_host);
        subsystem_.late_writes().add({.space = command.plan.space,
                                      .offset = command.plan.offset,
                                      .data = std::move(command.buffer),
                                      .delay = command.delay,
                                      .counters = &listener_.counters});
    }
}

} // namespace mpath::target
