// SPDX-License-Identifier: GPL-2.0-only
// The second half of TaskSet: commands whose data is complete are carried out and answered; and what a script
// does to them.
#include <bit>

#include "target/iscsi/control_command.h"
#include "target/iscsi/task_set.h"

namespace mpath::target::scsi {

void TaskSet::execute(std::uint16_t slot) {
    Task& task = tasks_[slot];
    prepare_answer(task);
    Built built{.outcome = task.plan.outcome, .data = {}};
    if (built.outcome.good() && task.plan.act == Act::control) {
        built = execute_control({node_, session_, task.plan.space}, task.request.cdb);
    } else if (built.outcome.good()) {
        built.outcome = execute_blocks(task);
    }
    finish(slot); // first: the answer says how much room there is
    answer(task, built);
}

void TaskSet::finish(std::uint16_t slot) {
    const auto place =
        std::find_if(places_.begin(), places_.end(), [slot](const Place& each) { return each.slot == slot; });
    *place = places_.back();
    places_.pop_back();
    free_.push_back(slot);
    window_left_ += tasks_[slot].immediate ? 0 : 1;
    update_window();
}

Outcome TaskSet::execute_blocks(Task& task) {
    const Plan& plan = task.plan;
    Counters& counters = listener_.counters;
    const std::span<const std::byte> data(task.buffer.data(),
                                          std::min<std::size_t>(task.buffer.size(), task.wanted));
    switch (plan.act) {
    case Act::read:
        ++counters.reads;
        counters.read_bytes += std::min<std::uint64_t>(plan.length, task.request.expected_length);
        return outcome::kGood;
    case Act::write:
        ++counters.writes;
        counters.write_bytes += task.wanted;
        counters.fua_writes += plan.force_unit_access ? 1 : 0;
        return outcome::kGood;
    case Act::unmap:
        ++counters.deallocates;
        return unmap(node_.options(), *plan.space, data);
    case Act::write_same:
        if (task.wanted != plan.from_initiator) {
            return outcome::kInvalidField;
        }
        ++counters.write_zeroes;
        write_same(plan, data);
        return outcome::kGood;
    case Act::verify:
        return plan.from_initiator == 0 ? outcome::kGood : verify(plan, data);
    default:
        ++counters.flushes;
        return outcome::kGood; // memory is as durable as it gets
    }
}

Reply TaskSet::reply_to(const Task& task, const Built& built) const {
    const Plan& plan = task.plan;
    const bool reads = (task.request.flags & iscsi::command_flag::kRead) != 0;
    Reply reply{
        .tag = task.request.task_tag, .outcome = built.outcome, .expected = task.request.expected_length};
    reply.data_pdus = task.r2t_sn;
    if (!reads && (plan.act == Act::read || plan.act == Act::control)) {
        reply.expected = 0; // what was to go the other way
    }
    if (!built.outcome.good()) {
        return reply;
    }
    if (plan.act == Act::read) {
        reply.available = plan.length;
        reply.space = plan.space;
        reply.offset = plan.offset;
    } else if (plan.act == Act::control) {
        reply.available = built.data.size();
        reply.built = built.data.data();
    } else {
        reply.available = plan.from_initiator;
        return reply;
    }
    reply.length =
        reads ? static_cast<std::uint32_t>(std::min<std::uint64_t>(reply.available, reply.expected)) : 0;
    return reply;
}

void TaskSet::answer(const Task& task, const Built& built) {
    if (!built.outcome.good() && built.outcome.key != iscsi::sense_key::kUnitAttention) {
        ++listener_.counters.refused;
    }
    if (muted_) {
        return;
    }
    const Options& options = node_.options();
    Reply reply = reply_to(task, built);
    reply.status_with_data =
        reply.length != 0 && options.success_flag && (!options.vary || variation_->coin());
    // Data that was built is gone when others have had their turn.
    ReplyMixer* mixing = reply.built != nullptr ? nullptr : mixer();
    if (mixing != nullptr) {
        mixing->add(reply);
        return;
    }
    while (!writer_.put_next(reply)) {
    }
}

Subject TaskSet::subject_of(const iscsi::Bhs& request) const {
    Subject about{.controller = session_.tsih(), .request = &request};
    const auto opcode = static_cast<iscsi::Opcode>(request.opcode & iscsi::kOpcodeMask);
    if (opcode == iscsi::Opcode::scsi_command) {
        const std::uint32_t nsid = nsid_of(std::bit_cast<iscsi::ScsiCommand>(request).lun);
        const bool there = nsid != 0 && nsid <= node_.subsystem().namespace_count();
        about.group = there ? node_.subsystem().group_of(nsid) : 0;
    }
    return about;
}

/// What has to be settled when a command arrives. Precondition: it is fine so far.
void TaskSet::afflict(Task& task) {
    Faults& faults = listener_.faults;
    const auto header = std::bit_cast<iscsi::Bhs>(task.request);
    const Subject about = subject_of(header);
    if (const Action* failure = faults.take(ActionKind::fail, about); failure != nullptr) {
        const ScsiFailure& how = failure->scsi;
        task.plan.outcome = {how.status, how.key, how.asc, how.ascq};
        ++listener_.counters.failed;
        return;
    }
    if (const Action* slow = faults.take(ActionKind::delay, about); slow != nullptr) {
        task.delay = slow->duration;
    }
    if (task.plan.act == Act::write) {
        if (const Action* hold = faults.take(ActionKind::hold_writes, about); hold != nullptr) {
            task.held = true;
            task.delay = hold->duration;
            ++listener_.counters.held_writes;
        }
    }
}

/// What has to be settled when it is answered.
void TaskSet::prepare_answer(const Task& task) {
    muted_ = false;
    if (listener_.faults.empty()) {
        writer_.limit_data(0);
        return;
    }
    Faults& faults = listener_.faults;
    const auto request = std::bit_cast<iscsi::Bhs>(task.request);
    const Subject about = subject_of(request);
    muted_ = faults.take(ActionKind::mute, about) != nullptr;
    listener_.counters.muted += muted_ ? 1 : 0;
    const Action* split = faults.find(ActionKind::split_data, about);
    writer_.limit_data(split == nullptr ? 0 : static_cast<std::uint32_t>(split->number));
    if (muted_ || !task.plan.outcome.good()) {
        return;
    }
    const bool has_data = task.plan.act == Act::control || task.plan.act == Act::read;
    const bool header = faults.take(ActionKind::flip_header, about) != nullptr;
    const bool data = has_data && faults.take(ActionKind::flip_data, about) != nullptr;
    if (header || data) {
        writer_.flip_next(header, data);
    }
}

ReplyMixer* TaskSet::mixer() {
    if (node_.options().reorder) {
        return mixer_.get();
    }
    if (listener_.faults.empty() ||
        listener_.faults.find(ActionKind::reorder, Subject{.controller = session_.tsih()}) == nullptr) {
        return nullptr; // one that is there still gives what it has kept
    }
    if (mixer_ == nullptr) {
        own_variation_ = std::make_unique<Variation>(node_.options().seed, listener_.counters.connections);
        mixer_ = std::make_unique<ReplyMixer>(writer_, *own_variation_);
    }
    return mixer_.get();
}

/// The connection is lost. What had not come of a write's data never will.
void TaskSet::give_up_held_writes() {
    for (const Place& place : places_) {
        Task& task = tasks_[place.slot];
        if (!task.held || task.received < task.wanted) {
            continue;
        }
        task.buffer.resize(task.wanted);
        node_.subsystem().late_writes().add({.space = task.plan.space,
                                             .offset = task.plan.offset,
                                             .data = std::move(task.buffer),
                                             .delay = task.delay,
                                             .counters = &listener_.counters});
    }
}

} // namespace mpath::target::scsi
