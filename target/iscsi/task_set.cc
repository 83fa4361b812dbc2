// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/task_set.h"

#include <bit>

#include "target/iscsi/command_set.h"

namespace mpath::target::scsi {

namespace command_flag = iscsi::command_flag;
namespace reject_reason = iscsi::reject_reason;

namespace {

constexpr std::size_t kImmediateRoom = 64;

tl::unexpected<Fault> protocol_error() {
    return tl::unexpected(Fault{});
}

} // namespace

TaskSet::TaskSet(Node& node, Session& session, PduWriter& writer, Variation* variation)
    : node_(node), session_(session), listener_(session.listener()), writer_(writer), variation_(variation),
      tasks_(std::min<std::size_t>(node.options().queue_size, 32768) + kImmediateRoom),
      window_left_(static_cast<std::uint32_t>(tasks_.size() - kImmediateRoom)),
      max_r2t_(std::min<std::uint32_t>(
          session.terms().max_outstanding_r2t,
          static_cast<std::uint32_t>(std::max<std::size_t>(1, 32768 / tasks_.size())))) {
    for (std::size_t slot = 0; slot < tasks_.size(); ++slot) {
        free_.push_back(static_cast<std::uint16_t>(slot));
    }
    places_.reserve(tasks_.size());
    session.tasks = this;
    if (node.options().vary) {
        r2ts_.set_mask(static_cast<std::uint16_t>(variation->pick(65536)));
    }
    if (node.options().reorder) {
        mixer_ = std::make_unique<ReplyMixer>(writer_, *variation_);
    }
    update_window();
}

TaskSet::~TaskSet() {
    give_up_held_writes();
    session_.tasks = nullptr;
}

std::optional<std::uint16_t> TaskSet::find(std::uint32_t tag) const {
    for (const Place& place : places_) {
        if (place.tag == tag) {
            return place.slot;
        }
    }
    return std::nullopt;
}

/// Whether the header agrees with itself and with what was negotiated.
std::optional<Fault> TaskSet::check(const iscsi::ScsiCommand& request) const {
    const Terms& terms = session_.terms();
    const bool writes = (request.flags & command_flag::kWrite) != 0;
    const bool final = (request.flags & iscsi::kFinal) != 0;
    const std::uint32_t data = request.data_length;
    if (data != 0 &&
        (!writes || !terms.immediate_data || data > terms.first_burst || data > request.expected_length)) {
        return Fault{};
    }
    if (!final && (!writes || terms.initial_r2t)) {
        return Fault{};
    }
    if (request.ahs_length != 0) {
        return Fault{reject_reason::kCommandNotSupported, false};
    }
    if (request.task_tag == iscsi::kNoTag) {
        return Fault{reject_reason::kInvalidPduField, false};
    }
    if (find(request.task_tag)) {
        return Fault{reject_reason::kTaskInProgress, false};
    }
    return free_.empty() ? std::optional(Fault{reject_reason::kTooManyImmediate, false}) : std::nullopt;
}

std::uint16_t TaskSet::take_slot(const iscsi::ScsiCommand& request) {
    const std::uint16_t slot = free_.back();
    free_.pop_back();
    places_.push_back({request.task_tag, slot});
    Task& task = tasks_[slot];
    task.request = request;
    task.immediate = (request.opcode & iscsi::kImmediate) != 0;
    window_left_ -= task.immediate ? 0 : 1;
    update_window();
    task.wanted = task.asked = task.received = task.open_r2ts = task.r2t_sn = task.unsolicited_sn = 0;
    task.unsolicited = (request.flags & iscsi::kFinal) == 0;
    task.held = false;
    task.delay = 0;
    return slot;
}

tl::expected<Payload, Fault> TaskSet::command(const iscsi::ScsiCommand& request, Nanoseconds now) {
    if (const auto wrong = check(request)) {
        return tl::unexpected(*wrong);
    }
    const std::uint16_t slot = take_slot(request);
    Task& task = tasks_[slot];
    plan(task);
    if (request.data_length == 0) {
        if (!task.unsolicited) {
            proceed(slot, now);
        }
        return Payload{};
    }
    receiving_ = {Receiving::Of::task, slot, request.data_length, !task.unsolicited};
    return payload_of(task, request.data_length);
}

void TaskSet::plan(Task& task) {
    task.nsid = nsid_of(task.request.lun);
    if (task.nsid != 0 && node_.subsystem().find_namespace(task.nsid, listener_) == nullptr) {
        task.nsid = 0;
    }
    task.plan = plan_of(task);
    const std::uint8_t flags = task.request.flags & (command_flag::kRead | command_flag::kWrite);
    const bool writes = flags == command_flag::kWrite;
    const bool needs_data = task.plan.outcome.good() && task.plan.from_initiator != 0;
    if (needs_data && !writes && task.request.expected_length != 0) {
        task.plan = {.outcome = outcome::kInvalidField}; // nothing was written, and nobody should think so
    }
    if (!listener_.faults.empty() && task.plan.outcome.good()) {
        afflict(task);
    }
    task.wanted = task.plan.outcome.good() && writes
                      ? std::min<std::uint32_t>(task.request.expected_length, task.plan.from_initiator)
                      : 0;
}

Plan TaskSet::plan_of(const Task& task) {
    const iscsi::Cdb& cdb = task.request.cdb;
    const Options& options = node_.options();
    const CommandInfo* info = find_command(cdb, options);
    const bool anywhere = info != nullptr && info->states == answered_in::kAlways && !info->tells_attention;
    if (task.nsid == 0 && !anywhere) {
        return {.outcome = outcome::kNoSuchLun};
    }
    if (task.nsid != 0 && (info == nullptr || info->tells_attention) && session_.has_attention(task.nsid)) {
        ++listener_.counters.unit_attentions;
        return {.outcome = outcome_of(session_.take_attention(task.nsid))};
    }
    if (info == nullptr) {
        return {.outcome = outcome::kInvalidOpcode};
    }
    if (const Outcome refusal = refusal_of_state(task, info->states); !refusal.good()) {
        return {.outcome = refusal};
    }
    Namespace* space = task.nsid == 0 ? nullptr : node_.subsystem().find_namespace(task.nsid);
    return info->about_blocks ? plan_block(options, *space, cdb) : Plan{.space = space};
}

Outcome TaskSet::refusal_of_state(const Task& task, std::uint8_t states) const {
    using State = iscsi::AluaState;
    if (states == answered_in::kAlways || task.nsid == 0) {
        return outcome::kGood;
    }
    switch (listener_.access_state(node_.subsystem().group_of(task.nsid)).alua) {
    case State::standby:
        return (states & answered_in::kStandby) != 0 ? outcome::kGood : outcome::kStandby;
    case State::unavailable:
        return outcome::kUnavailable;
    case State::offline:
        return outcome::kOffline;
    case State::transitioning:
        return outcome::kTransitioning;
    default:
        return outcome::kGood;
    }
}

std::byte* TaskSet::destination(Task& task, std::uint32_t offset) const {
    if (task.plan.act == Act::write && !task.held) {
        return task.plan.space->destination(task.plan.offset + offset);
    }
    if (task.buffer.size() < task.wanted) {
        task.buffer.resize(task.wanted);
    }
    return task.buffer.data() + offset;
}

/// Where the next `length` bytes that come for it go.
Payload TaskSet::payload_of(Task& task, std::uint32_t length) const {
    if (task.received >= task.wanted) {
        return {};
    }
    return {destination(task, task.received), std::min(length, task.wanted - task.received)};
}

tl::expected<Payload, Fault> TaskSet::data_out(const iscsi::DataOut& header, Nanoseconds now) {
    const std::uint32_t length = header.data_length;
    const bool final = (header.flags & iscsi::kFinal) != 0;
    if (header.target_tag == iscsi::kNoTag) {
        const auto slot = find(header.task_tag);
        if (!slot) {
            const auto abandoned = std::find(abandoned_.begin(), abandoned_.end(), header.task_tag);
            if (abandoned == abandoned_.end()) {
                return tl::unexpected(Fault{reject_reason::kInvalidPduField, false});
            }
            if (final) {
                abandoned_.erase(abandoned);
            }
            receiving_ = {};
            return Payload{};
        }
        Task& task = tasks_[*slot];
        const std::uint32_t most =
            std::min<std::uint32_t>(session_.terms().first_burst, task.request.expected_length);
        if (!task.unsolicited || header.data_sn != task.unsolicited_sn++ || header.offset != task.received ||
            length > most - task.received) {
            return protocol_error();
        }
        receiving_ = {Receiving::Of::task, *slot, length, final};
        const Payload payload = payload_of(task, length);
        if (length == 0) {
            payload_received(true, now);
        }
        return payload;
    }
    OpenR2t* r2t =
        header.target_tag <= 0xffff ? r2ts_.find(static_cast<std::uint16_t>(header.target_tag)) : nullptr;
    if (r2t == nullptr || (!r2t->abandoned && tasks_[r2t->slot].request.task_tag != header.task_tag)) {
        return protocol_error();
    }
    if (header.data_sn != r2t->data_sn++ || header.offset != r2t->at || length > r2t->end - r2t->at ||
        final != (r2t->at + length == r2t->end) || length == 0) {
        return protocol_error();
    }
    receiving_ = {Receiving::Of::r2t, static_cast<std::uint16_t>(header.target_tag), length, final};
    return r2t->abandoned ? Payload{} : Payload{destination(tasks_[r2t->slot], r2t->at), length};
}

void TaskSet::payload_received(bool intact, Nanoseconds now) {
    const Receiving received = std::exchange(receiving_, {});
    std::uint16_t slot = received.slot;
    if (received.of == Receiving::Of::nothing) {
        return; // its command is over
    }
    if (received.of == Receiving::Of::r2t) {
        OpenR2t& r2t = *r2ts_.find(received.slot);
        slot = r2t.slot;
        r2t.at += received.length;
        const bool abandoned = r2t.abandoned;
        if (received.last) {
            r2ts_.close(received.slot);
        }
        if (abandoned) {
            return;
        }
        tasks_[slot].open_r2ts -= received.last ? 1 : 0;
    }
    Task& task = tasks_[slot];
    task.received += received.length;
    if (!intact) {
        task.plan.outcome = outcome::kProtocolCrc;
    }
    if (received.of == Receiving::Of::task) {
        task.unsolicited = !received.last;
    }
    if (received.last) {
        proceed(slot, now);
    }
}

/// Nothing comes unasked any more.
void TaskSet::proceed(std::uint16_t slot, Nanoseconds now) {
    Task& task = tasks_[slot];
    task.asked = std::max(task.asked, task.received);
    const bool failed = !task.plan.outcome.good();
    if (!failed && task.received < task.wanted) {
        ask_for_data(slot);
    } else if (task.open_r2ts == 0) { // what was asked for before it failed comes all the same
        data_complete(slot, now);
    }
}

void TaskSet::ask_for_data(std::uint16_t slot) {
    Task& task = tasks_[slot];
    const Options& options = node_.options();
    const std::uint32_t most = options.vary ? 1 + variation_->pick(max_r2t_) : max_r2t_;
    while (task.asked < task.wanted && task.open_r2ts < most) {
        const std::uint32_t left = std::min(task.wanted - task.asked, session_.terms().max_burst);
        const std::uint32_t step = options.r2t_size == 0             ? left
                                   : options.r2t_size == kRandomSize ? variation_->size(left)
                                                                     : std::min(options.r2t_size, left);
        iscsi::R2t pdu;
        pdu.lun = task.request.lun;
        pdu.task_tag = task.request.task_tag;
        pdu.target_tag = r2ts_.open(slot, 0, task.asked, step);
        pdu.r2t_sn = task.r2t_sn++;
        pdu.offset = task.asked;
        pdu.desired_length = step;
        task.asked += step;
        ++task.open_r2ts;
        writer_.put(pdu, PduWriter::StatSn::tells);
    }
}

void TaskSet::data_complete(std::uint16_t slot, Nanoseconds now) {
    const Task& task = tasks_[slot];
    if (task.held) {
        return;
    }
    const Nanoseconds delay = task.delay + (task.plan.act != Act::control ? listener_.options.delay : 0);
    if (delay == 0) {
        execute(slot);
        return;
    }
    const auto after = std::find_if(delayed_.rbegin(), delayed_.rend(),
                                    [due = now + delay](const Delayed& other) { return other.due <= due; });
    delayed_.insert(after.base(), {now + delay, slot});
}

void TaskSet::expire(Nanoseconds now) {
    while (!delayed_.empty() && delayed_.front().due <= now) {
        const std::uint16_t slot = delayed_.front().slot;
        delayed_.pop_front();
        execute(slot);
    }
}

} // namespace mpath::target::scsi
