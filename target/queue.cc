// SPDX-License-Identifier: GPL-2.0-only
#include "target/queue.h"

#include <algorithm>
#include <cstddef>

namespace mpath::target {

using nvme::FatalStatus;
using nvme::Status;
using nvme::StatusCode;

namespace {

constexpr std::uint32_t kEntriesBeforeConnect = 32;

tl::unexpected<Fault> fault_in_field(std::size_t offset) {
    return tl::unexpected(Fault{FatalStatus::invalid_header_field, static_cast<std::uint32_t>(offset)});
}

} // namespace

Queue::Queue(Subsystem& subsystem, Listener& listener, PduWriter& writer, Variation* variation)
    : subsystem_(subsystem), listener_(listener), writer_(writer), variation_(variation) {
    set_size(kEntriesBeforeConnect);
    if (subsystem.options().vary) {
        r2ts_.set_mask(static_cast<std::uint16_t>(variation->pick(65536)));
    }
}

Queue::~Queue() {
    give_up_held_writes();
    if (controller_ != nullptr) {
        controller_->release_queue(qid_);
        if (role_ == Role::admin) {
            controller_->end();
        }
    }
}

void Queue::set_size(std::uint32_t entries) {
    entries_ = entries;
    for (std::size_t slot = commands_.size(); slot < entries; ++slot) {
        free_.push_back(static_cast<std::uint16_t>(slot));
    }
    commands_.resize(std::max<std::size_t>(commands_.size(), entries));
}

bool Queue::alive() const {
    return controller_ == nullptr ||
           (!controller_->ended() && (role_ == Role::admin || controller_->resets() == resets_seen_));
}

std::uint16_t Queue::take_slot(const nvme::Sqe& sqe) {
    const std::uint16_t slot = free_.back();
    free_.pop_back();
    Command& command = commands_[slot];
    command.sqe = sqe;
    command.plan = {};
    command.is_io = false;
    command.owns_cid = !cids_.test(sqe.cid);
    command.asked = 0;
    command.received = 0;
    command.open_r2ts = 0;
    command.misdeed = Misdeed::none;
    command.held = false;
    command.delay = 0;
    cids_.set(sqe.cid);
    return slot;
}

tl::expected<Payload, Fault> Queue::capsule(const nvme::Sqe& sqe, std::uint32_t data, Nanoseconds now) {
    if (free_.empty()) {
        return tl::unexpected(
            Fault{FatalStatus::sequence_error, 0}); // more commands than the queue has entries
    }
    head_ = head_ + 1 == entries_ ? 0 : head_ + 1;
    if (controller_ != nullptr) {
        controller_->heard_command(now);
    }
    const std::uint16_t slot = take_slot(sqe);
    Command& command = commands_[slot];
    plan(command);
    if (auto fine = check_capsule(command, data); !fine) {
        return tl::unexpected(fine.error());
    }
    if (data != 0) {
        receiving_capsule_ = true;
        receiving_ = slot;
        return Payload{destination(command, 0), data};
    }
    if (command.plan.status.ok() && command.plan.from_host != 0) {
        ask_for_data(slot);
    } else {
        data_complete(slot, now);
    }
    return Payload{};
}

void Queue::plan(Command& command) {
    const nvme::Sqe& sqe = command.sqe;
    if (sqe.opcode == nvme::kFabricsOpcode) {
        plan_fabrics(command);
    } else if (controller_ == nullptr) {
        command.plan.status = Status(StatusCode::command_sequence_error, true);
    } else if (subsystem_.options().demand_auth) {
        command.plan.status = Status(StatusCode::authentication_required, true);
    } else if (role_ == Role::io) {
        command.is_io = true;
        command.plan = plan_io(subsystem_, listener_, sqe);
    } else {
        command.plan.from_host = admin_bytes_from_host(sqe);
        if (command.plan.from_host != 0 && sqe.sgl.length != command.plan.from_host) {
            command.plan.status = Status(StatusCode::data_sgl_length_invalid, true);
        }
    }
    if (sqe.flags != nvme::kSqeFlagsSgl) {
        command.plan.status = Status(StatusCode::invalid_field, true);
    }
    if (!command.owns_cid) {
        command.plan.status = Status(StatusCode::cid_conflict, true);
    }
    if (!listener_.faults.empty() && command.plan.status.ok()) {
        afflict(command);
    }
}

void Queue::plan_fabrics(Command& command) const {
    const auto type = static_cast<nvme::FabricsType>(command.sqe.nsid & 0xff);
    if ((type == nvme::FabricsType::connect) != (controller_ == nullptr)) {
        command.plan.status = Status(StatusCode::command_sequence_error, true);
    } else if (type == nvme::FabricsType::connect) {
        command.plan.from_host = sizeof(nvme::ConnectData);
        if (command.sqe.sgl.length != sizeof(nvme::ConnectData)) {
            command.plan.status = Status(StatusCode::data_sgl_length_invalid, true);
        }
    } else if (subsystem_.options().demand_auth) {
        command.plan.status = Status(StatusCode::authentication_required, true);
    }
}

/// A capsule that contradicts itself ends the connection; a wrong SGL fails only its command.
tl::expected<void, Fault> Queue::check_capsule(Command& command, std::uint32_t data) const {
    const nvme::SglDescriptor& sgl = command.sqe.sgl;
    const bool in_capsule = sgl.identifier == nvme::kSglInCapsule;
    const std::uint32_t room =
        role_ == Role::io && command.is_io ? subsystem_.options().in_capsule : nvme::kAdminInCapsuleSize;
    if (data > room || data != (in_capsule ? sgl.length.get() : 0U)) {
        return fault_in_field(offsetof(nvme::CommonHeader, plen));
    }
    Status& status = command.plan.status;
    if (!status.ok()) {
        return {};
    }
    if (!in_capsule && sgl.identifier != nvme::kSglTransportDataBlock && sgl.length != 0) {
        status = Status(StatusCode::sgl_type_invalid, true);
    } else if (in_capsule && sgl.address != 0) {
        status = Status(StatusCode::sgl_offset_invalid, true);
    } else if (data != 0 && data != command.plan.from_host) {
        status = Status(StatusCode::data_sgl_length_invalid, true);
    }
    return {};
}

std::byte* Queue::destination(Command& command, std::uint32_t offset) const {
    if (!command.plan.status.ok()) {
        return nullptr;
    }
    if (command.is_io && command.sqe.opcode == nvme::io_opcode::kWrite && !command.held) {
        return command.plan.space->destination(command.plan.offset + offset);
    }
    if (command.buffer.size() < command.plan.from_host) {
        command.buffer.resize(command.plan.from_host);
    }
    return command.buffer.data() + offset;
}

void Queue::set_max_r2t(std::uint32_t max_r2t) {
    const Options& options = subsystem_.options();
    hosts_max_r2t_ = max_r2t;
    // However deep the queue, there are tags for all of them.
    max_r2t_ = std::min({max_r2t, options.max_r2t, std::max(1U, 32768 / options.queue_size)});
}

std::uint32_t Queue::r2t_step(std::uint32_t left) {
    const std::uint32_t step = subsystem_.options().r2t_size;
    if (step == 0) {
        return left;
    }
    return step == kRandomSize ? variation_->size(left) : std::min(step, left);
}

/// `told`: the length that the host is told.
void Queue::open_r2t(std::uint16_t slot, std::uint32_t offset, std::uint32_t length, std::uint32_t told) {
    Command& command = commands_[slot];
    const std::uint16_t tag = r2ts_.open(slot, command.sqe.cid, offset, length);
    writer_.r2t(command.sqe.cid, tag, offset, told);
    command.asked = offset + length;
    ++command.open_r2ts;
}

void Queue::ask_for_data(std::uint16_t slot) {
    Command& command = commands_[slot];
    if (command.asked == 0) {
        command.misdeed = next_misdeed(command, Victims::r2t_writes);
    }
    if (command.misdeed != Misdeed::none && command.misdeed != Misdeed::early_error) {
        ask_wrongly(slot);
        return;
    }
    const std::uint32_t most = subsystem_.options().vary ? 1 + variation_->pick(max_r2t_) : max_r2t_;
    while (command.asked < command.plan.from_host && command.open_r2ts < most) {
        const std::uint32_t length = r2t_step(command.plan.from_host - command.asked);
        open_r2t(slot, command.asked, length, length);
    }
}

tl::expected<Payload, Fault> Queue::h2c_data(const nvme::H2cData& header, std::uint32_t data) {
    const OpenR2t* r2t = r2ts_.find(header.ttag);
    if (r2t == nullptr) {
        return fault_in_field(offsetof(nvme::H2cData, ttag));
    }
    if (r2t->cid != header.cccid) {
        return fault_in_field(offsetof(nvme::H2cData, cccid));
    }
    if (header.datal != data) {
        return fault_in_field(offsetof(nvme::H2cData, datal));
    }
    if (header.datao != r2t->at || data > r2t->end - r2t->at) {
        return tl::unexpected(Fault{FatalStatus::data_out_of_range, 0});
    }
    const bool is_last = r2t->at + data == r2t->end;
    if (is_last != ((header.common.flags & nvme::pdu_flag::kLastPdu) != 0)) {
        return fault_in_field(offsetof(nvme::CommonHeader, flags));
    }
    receiving_capsule_ = false;
    receiving_ = header.ttag;
    receiving_bytes_ = data;
    return Payload{r2t->abandoned ? nullptr : destination(commands_[r2t->slot], r2t->at), data};
}

void Queue::payload_received(bool intact, Nanoseconds now) {
    std::uint16_t slot = receiving_;
    bool answered_r2t = false;
    if (!receiving_capsule_) {
        OpenR2t& r2t = *r2ts_.find(receiving_);
        r2t.at += receiving_bytes_;
        slot = r2t.slot;
        answered_r2t = r2t.at == r2t.end;
        if (answered_r2t) {
            r2ts_.close(receiving_);
        }
        if (r2t.abandoned) {
            return;
        }
    }
    Command& command = commands_[slot];
    if (!intact) {
        command.plan.status = Status(StatusCode::transient_transport_error);
    }
    if (receiving_capsule_) {
        data_complete(slot, now);
        return;
    }
    command.received += receiving_bytes_;
    command.open_r2ts -= answered_r2t ? 1 : 0;
    if (command.misdeed == Misdeed::early_error) {
        fail_early(slot);
    } else if (command.received == command.plan.from_host) {
        data_complete(slot, now);
    } else if (answered_r2t) {
        ask_for_data(slot);
    }
}

void Queue::data_complete(std::uint16_t slot, Nanoseconds now) {
    const Command& command = commands_[slot];
    if (command.held) {
        held_slots_.push_back(slot);
        return;
    }
    const Nanoseconds delay = command.delay + (command.is_io ? listener_.options.delay : 0);
    if (delay == 0) {
        execute(slot, now);
        return;
    }
    const auto after = std::find_if(delayed_.rbegin(), delayed_.rend(),
                                    [due = now + delay](const Delayed& other) { return other.due <= due; });
    delayed_.insert(after.base(), {now + delay, slot});
}

void Queue::expire(Nanoseconds now) {
    while (!delayed_.empty() && delayed_.front().due <= now) {
        const std::uint16_t slot = delayed_.front().slot;
        delayed_.pop_front();
        execute(slot, now);
    }
}

} // namespace mpath::target
