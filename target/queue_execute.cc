// SPDX-License-Identifier: GPL-2.0-only
// The second half of Queue: commands whose data is complete are carried out and answered.
#include <bit>
#include <cstring>

#include "target/connect.h"
#include "target/queue.h"

namespace mpath::target {

using nvme::Status;
using nvme::StatusCode;

void Queue::execute(std::uint16_t slot, Nanoseconds now) {
    Command& command = commands_[slot];
    if (was_faulty_ || !listener_.faults.empty()) {
        prepare_answer(command);
    }
    if (!command.plan.status.ok()) {
        respond(command, command.plan.status);
    } else if (command.is_io && misbehaviour_ == nullptr && !was_faulty_) {
        execute_io(command);
    } else if (command.is_io) {
        execute_wrongly(command);
    } else {
        const Answer result = command.sqe.opcode == nvme::kFabricsOpcode
                                  ? execute_fabrics(command, now)
                                  : execute_admin(subsystem_, *controller_, command.sqe, command.buffer, now);
        if (result.later) {
            event_slots_.push_back(slot);
            return;
        }
        answer(commands_[slot], result);                                // a Connect has moved the commands
        if (role_ == Role::io && commands_[slot].plan.from_host != 0) { // it was the Connect
            begin_io();
        }
    }
    finish(slot);
}

/// From now on, what the options say of I/O connections holds.
void Queue::begin_io() {
    writer_.arm(listener_.options.flips);
    if (subsystem_.options().reorder) {
        mixer_ = std::make_unique<AnswerMixer>(writer_, *variation_);
    }
    if (listener_.options.breach.what != Misdeed::none) {
        misbehaviour_ = std::make_unique<Misbehaviour>(listener_.options.breach);
    }
}

void Queue::finish(std::uint16_t slot) {
    if (commands_[slot].owns_cid) {
        cids_.reset(commands_[slot].sqe.cid);
    }
    free_.push_back(slot);
}

void Queue::execute_io(Command& command) {
    const IoPlan& plan = command.plan;
    Counters& counters = listener_.counters;
    Status status;
    switch (command.sqe.opcode) {
    case nvme::io_opcode::kRead:
        ++counters.reads;
        counters.read_bytes += plan.length;
        answer_read(command);
        return;
    case nvme::io_opcode::kWrite:
        ++counters.writes;
        counters.write_bytes += plan.length;
        counters.fua_writes += (command.sqe.cdw12 >> 16 & nvme::kForceUnitAccess) != 0 ? 1 : 0;
        break;
    case nvme::io_opcode::kWriteZeroes:
        ++counters.write_zeroes;
        plan.space->zero(plan.offset, plan.length);
        break;
    case nvme::io_opcode::kDatasetManagement:
        ++counters.deallocates;
        if ((command.sqe.cdw11 & nvme::kDsmDeallocate) != 0) {
            status = deallocate(*plan.space,
                                {reinterpret_cast<const nvme::DsmRange*>(command.buffer.data()),
                                 plan.from_host / sizeof(nvme::DsmRange)},
                                subsystem_.options().max_trim);
        }
        break;
    default:
        ++counters.flushes;
        break; // memory is as durable as it gets
    }
    respond(command, status);
}

void Queue::answer_read(const Command& command) {
    const IoPlan& plan = command.plan;
    const Options& options = subsystem_.options();
    const bool success = !flow_control_ && options.success_flag && (!options.vary || variation_->coin());
    const auto length = static_cast<std::uint32_t>(plan.length);
    if (muted_) {
        return;
    }
    if (AnswerMixer* mixing = mixer(); mixing != nullptr) {
        mixing->add({.cqe = completion(command, Status(), 0, 0),
                     .from = plan.space,
                     .offset = plan.offset,
                     .length = length,
                     .success = success});
        return;
    }
    writer_.read_data(command.sqe.cid, *plan.space, plan.offset, length, success);
    if (!success) {
        respond(command, Status());
    }
}

Answer Queue::execute_fabrics(Command& command, Nanoseconds now) {
    switch (static_cast<nvme::FabricsType>(command.sqe.nsid & 0xff)) {
    case nvme::FabricsType::connect:
        return execute_connect(command, now);
    case nvme::FabricsType::property_get:
        if (role_ == Role::admin) {
            return get_property(*controller_, command.sqe);
        }
        break;
    case nvme::FabricsType::property_set:
        if (role_ == Role::admin) {
            return set_property(*controller_, command.sqe);
        }
        break;
    case nvme::FabricsType::disconnect:
        if (role_ == Role::io) {
            return {}; // the host closes the connection next
        }
        return {.status = Status(StatusCode::invalid_queue_type, true)};
    default:
        break;
    }
    return {.status = Status(StatusCode::invalid_opcode, true)};
}

Answer Queue::execute_connect(Command& command, Nanoseconds now) {
    const auto request = std::bit_cast<nvme::ConnectCommand>(command.sqe);
    nvme::ConnectData data;
    std::memcpy(&data, command.buffer.data(), sizeof(data));
    ConnectOutcome outcome = connect(subsystem_, listener_, request, data, now);
    if (outcome.controller != nullptr) {
        controller_ = std::move(outcome.controller);
        role_ = request.qid == 0 ? Role::admin : Role::io;
        qid_ = request.qid;
        resets_seen_ = controller_->resets();
        flow_control_ = (request.cattr & nvme::kCattrDisableSqFlowControl) == 0;
        set_size(request.sqsize + 1U);
        head_ = 1 % entries_; // Connect itself was the first entry
    }
    return {.status = outcome.status, .dw0 = outcome.dw0};
}

void Queue::answer(const Command& command, const Answer& with) {
    if (with.status.ok() && !muted_) {
        writer_.built_data(command.sqe.cid, with.data);
    }
    respond(command, with.status, with.dw0, with.dw1);
}

nvme::Cqe Queue::completion(const Command& command, Status status, std::uint32_t dw0,
                            std::uint32_t dw1) const {
    const bool is_connect = command.sqe.opcode == nvme::kFabricsOpcode && command.plan.from_host != 0;
    nvme::Cqe cqe;
    cqe.dw0 = dw0;
    cqe.dw1 = dw1;
    if (flow_control_) {
        cqe.sqhd = static_cast<std::uint16_t>(head_);
    } else if (is_connect) {
        cqe.sqhd = 0xffff; // says that flow control is off
    }
    cqe.cid = command.sqe.cid;
    cqe.status = status.to_cqe();
    return cqe;
}

void Queue::respond(const Command& command, Status status, std::uint32_t dw0, std::uint32_t dw1) {
    if (muted_) {
        return;
    }
    const nvme::Cqe cqe = completion(command, status, dw0, dw1);
    if (AnswerMixer* mixing = mixer(); mixing != nullptr) {
        mixing->add({.cqe = cqe});
    } else {
        writer_.capsule_resp(cqe);
    }
    if (!status.ok()) {
        ++listener_.counters.refused;
    }
}

} // namespace mpath::target
