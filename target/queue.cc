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

tl::unexpected<Fault> bad_field(std::size_t offset) {
    return tl::unexpected(Fault{FatalStatus::invalid_header_field, static_cast<std::uint32_t>(offset)});
}

} // namespace

Queue::Queue(Subsystem& subsystem, Listener& listener, PduWriter& writer)
    : subsystem_(subsystem), listener_(listener), writer_(writer) {
    set_size(kEntriesBeforeConnect);
}

Queue::~Queue() {
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
    command.awaits_data = false;
    command.received = 0;
    command.r2t_end = 0;
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
        receiving_ = slot;
        receiving_bytes_ = data;
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
    }
    if (sqe.flags != nvme::kSqeFlagsSgl) {
        command.plan.status = Status(StatusCode::invalid_field, true);
    }
    if (!command.owns_cid) {
        command.plan.status = Status(StatusCode::cid_conflict, true);
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
        return bad_field(offsetof(nvme::CommonHeader, plen));
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
    if (command.is_io && command.sqe.opcode == nvme::io_opcode::kWrite) {
        return command.plan.space->destination(command.plan.offset + offset);
    }
    if (command.buffer.size() < command.plan.from_host) {
        command.buffer.resize(command.plan.from_host);
    }
    return command.buffer.data() + offset;
}

void Queue::ask_for_data(std::uint16_t slot) {
    Command& command = commands_[slot];
    const std::uint32_t step = subsystem_.options().r2t_size;
    const std::uint32_t left = command.plan.from_host - command.received;
    const std::uint32_t length = step == 0 ? left : std::min(step, left);
    command.r2t_end = command.received + length;
    command.awaits_data = true;
    writer_.r2t(command.sqe.cid, slot, command.received, length);
}

tl::expected<Payload, Fault> Queue::h2c_data(const nvme::H2cData& header, std::uint32_t data) {
    const std::uint16_t slot = header.ttag;
    if (slot >= commands_.size() || !commands_[slot].awaits_data) {
        return bad_field(offsetof(nvme::H2cData, ttag));
    }
    Command& command = commands_[slot];
    if (command.sqe.cid != header.cccid) {
        return bad_field(offsetof(nvme::H2cData, cccid));
    }
    if (header.datal != data) {
        return bad_field(offsetof(nvme::H2cData, datal));
    }
    if (header.datao != command.received || data > command.r2t_end - command.received) {
        return tl::unexpected(Fault{FatalStatus::data_out_of_range, 0});
    }
    const bool is_last = command.received + data == command.r2t_end;
    if (is_last != ((header.common.flags & nvme::pdu_flag::kLastPdu) != 0)) {
        return bad_field(offsetof(nvme::CommonHeader, flags));
    }
    receiving_ = slot;
    receiving_bytes_ = data;
    return Payload{destination(command, command.received), data};
}

void Queue::payload_received(Nanoseconds now) {
    Command& command = commands_[receiving_];
    command.received += receiving_bytes_;
    if (!command.awaits_data) {
        data_complete(receiving_, now);
        return;
    }
    if (command.received < command.r2t_end) {
        return;
    }
    if (command.received < command.plan.from_host) {
        ask_for_data(receiving_);
        return;
    }
    command.awaits_data = false;
    data_complete(receiving_, now);
}

void Queue::data_complete(std::uint16_t slot, Nanoseconds now) {
    if (commands_[slot].is_io && listener_.options.delay != 0) {
        delayed_.push_back({now + listener_.options.delay, slot});
        return;
    }
    execute(slot, now);
}

void Queue::expire(Nanoseconds now) {
    while (!delayed_.empty() && delayed_.front().due <= now) {
        const std::uint16_t slot = delayed_.front().slot;
        delayed_.pop_front();
        execute(slot, now);
    }
}

} // namespace mpath::target
