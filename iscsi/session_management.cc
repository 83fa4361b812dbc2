// SPDX-License-Identifier: GPL-2.0-only
// What a session says and hears besides commands and their data. All that it sends of these is immediate: it
// takes no CmdSN and does not wait for the window.
#include <algorithm>

#include "iscsi/pong.h"
#include "iscsi/reject.h"
#include "iscsi/session.h"

namespace mpath::iscsi {

// ---- is there anybody

bool Session::ping() noexcept {
    if (!has_room_for_bhs()) {
        return false;
    }
    NopOut pdu;
    pdu.task_tag = kPing;
    pdu.cmd_sn = numbers_.cmd_sn;
    pdu.exp_stat_sn = numbers_.exp_stat_sn;
    append_bhs(&pdu);
    ++pings_;
    return true;
}

/// What the target asked with ping_.
void Session::answer_ping() noexcept {
    ping_waits_ = !has_room_for_bhs();
    if (ping_waits_) {
        return;
    }
    const NopOut pdu = pong_to(ping_, numbers_);
    append_bhs(&pdu);
    stream_.flush();
}

void Session::take_nop_in(const NopIn& pdu) noexcept {
    if (pdu.task_tag != kNoTag) {
        if (pdu.task_tag != kPing || pings_ == 0) {
            fault("an answer to a NOP-Out that is not outstanding");
            return;
        }
        if (!take_status_number(pdu.stat_sn)) {
            return;
        }
        --pings_;
        client_.on_pong();
    }
    if (pdu.target_tag != kNoTag && !closing()) {
        ping_ = pdu;
        answer_ping();
    }
}

// ---- task management

bool Session::send_task_function(std::uint8_t function, const Lun& lun, const Slot* task,
                                 std::uint32_t& tag) noexcept {
    const auto place = std::find_if(functions_.begin(), functions_.end(),
                                    [](const TaskFunction& other) { return other.tag == kNoTag; });
    if (place == functions_.end() || !has_room_for_bhs()) {
        return false;
    }
    tag = next_function_;
    next_function_ = next_function_ + 1 == kNoTag ? kFirstFunction : next_function_ + 1;
    TaskManagement pdu;
    pdu.opcode |= kImmediate;
    pdu.function = static_cast<std::uint8_t>(kFinal | function);
    pdu.lun = lun;
    pdu.task_tag = tag;
    pdu.referenced_task_tag = task != nullptr ? task->tag : kNoTag;
    pdu.cmd_sn = numbers_.cmd_sn;
    pdu.exp_stat_sn = numbers_.exp_stat_sn;
    pdu.ref_cmd_sn = task != nullptr ? task->cmd_sn : 0;
    append_bhs(&pdu);
    *place = {tag, pdu.referenced_task_tag, numbers_.cmd_sn, lun};
    return true;
}

bool Session::abort_task(const void* owner, const Lun& lun, std::uint32_t& tag) noexcept {
    const auto task = std::find_if(slots_.begin(), slots_.end(), [owner](const Slot& slot) {
        return slot.open && !slot.answered && slot.owner == owner;
    });
    return task != slots_.end() && send_task_function(task_function::kAbortTask, lun, &*task, tag);
}

bool Session::reset_unit(const Lun& lun, std::uint32_t& tag) noexcept {
    return send_task_function(task_function::kLogicalUnitReset, lun, nullptr, tag);
}

/// A command that such a function has ended gets no answer of its own any more; one that it came too late for
/// had its answer before (section 11.6.1).
void Session::take_task_response(const TaskManagementResponse& pdu) noexcept {
    const auto place =
        std::find_if(functions_.begin(), functions_.end(), [&pdu](const TaskFunction& function) {
            return function.tag != kNoTag && function.tag == pdu.task_tag;
        });
    if (place == functions_.end()) {
        fault("an answer to a task management function that is not outstanding");
        return;
    }
    if (!take_status_number(pdu.stat_sn)) {
        return;
    }
    const TaskFunction function = *place;
    *place = {};
    const bool one = function.task != kNoTag;
    if (pdu.response == task_response::kComplete || (one && pdu.response == task_response::kNoTask)) {
        for (Slot& slot : slots_) {
            const bool meant = one ? slot.tag == function.task
                                   : slot.lun == function.lun && comes_before(slot.cmd_sn, function.cmd_sn);
            if (slot.open && !slot.answered && meant) {
                answer(slot, {false, scsi_status::kTaskAborted, 0, {}});
            }
        }
    }
    client_.on_task_managed(pdu.task_tag, pdu.response);
}

// ---- the end

LogoutRequest Session::logout_request() const noexcept {
    LogoutRequest pdu;
    pdu.task_tag = kLogout;
    pdu.cmd_sn = numbers_.cmd_sn;
    pdu.exp_stat_sn = numbers_.exp_stat_sn;
    return pdu;
}

bool Session::log_out() noexcept {
    if (!has_room_for_bhs()) {
        return false;
    }
    const LogoutRequest pdu = logout_request();
    append_bhs(&pdu);
    said_goodbye_ = true;
    return true;
}

void Session::take_logout_response(const LogoutResponse& pdu) noexcept {
    if (!said_goodbye_ || pdu.task_tag != kLogout) {
        fault("an answer to a Logout that is not outstanding");
    } else if (take_status_number(pdu.stat_sn)) {
        client_.on_logged_out(pdu.response);
    }
}

// ---- unasked

void Session::take_async(const AsyncMessage& pdu, std::span<const std::byte> data) noexcept {
    if (take_status_number(pdu.stat_sn)) {
        client_.on_async({pdu.event, pdu.parameter1, pdu.parameter2, pdu.parameter3,
                          pdu.event == async_event::kScsi ? sense_of(data) : std::span<const std::byte>{}});
    }
}

/// Data-Out that came damaged fails its command, whose status follows (section 7.8). Whatever else a target
/// does not take it does not answer either, a command with damaged immediate data included: the session is at
/// its end.
void Session::take_reject(const Reject& pdu, std::span<const std::byte> data) noexcept {
    const unsigned opcode = data.size() >= kBhsSize ? load<Bhs>(data).opcode & kOpcodeMask : kOpcodeMask;
    const bool status_follows =
        pdu.reason == reject_reason::kDataDigestError && static_cast<Opcode>(opcode) == Opcode::data_out;
    if (take_status_number(pdu.stat_sn) && !status_follows) {
        stream_.close({EPROTO, fmt::format("the target rejected a PDU (opcode {:02x}h): {} (reason {:02x}h)",
                                           opcode, reject_text(pdu.reason), pdu.reason)},
                      net::Stream::Ending::abort);
    }
}

} // namespace mpath::iscsi
