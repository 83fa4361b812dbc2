// SPDX-License-Identifier: GPL-2.0-only
// What a target sends, against the commands that are outstanding.
#include <algorithm>
#include <cstring>
#include <utility>

#include "iscsi/session.h"

namespace mpath::iscsi {
namespace {

/// No PDU but Data-In has reason to carry more: sense data, the header of a rejected PDU, a ping's echo.
constexpr std::uint32_t kMaxOtherData = 16 * 1024;

} // namespace

std::span<const std::byte> Session::sense_of(std::span<const std::byte> data) noexcept {
    if (data.size() < sizeof(Be16)) {
        return {};
    }
    const std::size_t length = load<Be16>(data).get();
    return data.subspan(sizeof(Be16), std::min(length, data.size() - sizeof(Be16)));
}

Session::Slot* Session::find(std::uint32_t tag) noexcept {
    const std::uint32_t index = tag & kSlotMask;
    if (index >= slots_.size() || !slots_[index].open || slots_[index].answered || slots_[index].tag != tag) {
        return nullptr;
    }
    return &slots_[index];
}

/// Section 4.2.2.1: what is out of range, or older than what is known, is ignored.
void Session::take_window(std::uint32_t exp_cmd_sn, std::uint32_t max_cmd_sn) noexcept {
    if (!comes_before(max_cmd_sn, exp_cmd_sn - 1) && comes_before(numbers_.max_cmd_sn, max_cmd_sn)) {
        numbers_.max_cmd_sn = max_cmd_sn;
        if (window_wanted_since_ != 0 && !window_closed()) {
            note_window_opened();
        }
    }
}

void Session::note_window_opened() noexcept {
    if (window_wanted_since_ != 0) {
        ++statistics_.window_closed;
        statistics_.window_closed_time +=
            std::max(reactor_.arrival(), window_wanted_since_) - window_wanted_since_;
        window_wanted_since_ = 0;
        window_opened_ = true;
    }
}

/// False: an answer was lost, which at ErrorRecoveryLevel 0 nobody can bring back.
bool Session::take_status_number(std::uint32_t stat_sn) noexcept {
    if (stat_sn != numbers_.exp_stat_sn) {
        fault("a StatSN out of sequence");
        return false;
    }
    ++numbers_.exp_stat_sn;
    return true;
}

std::size_t Session::on_data(std::span<const std::byte> bytes) noexcept {
    std::size_t consumed = 0;
    while (!stream_.closing() && receiving_ != Receiving::payload) {
        const auto rest = bytes.subspan(consumed);
        const std::size_t taken = receiving_ == Receiving::pdu ? take_pdu(rest) : take_tail(rest);
        if (taken == 0) {
            break;
        }
        consumed += taken;
    }
    if (!with_data_.empty() && !stream_.closing()) {
        pump_data();
    }
    if (std::exchange(window_opened_, false) && !stream_.closing()) {
        client_.on_room();
    }
    return consumed;
}

[[gnu::always_inline]] inline std::size_t Session::take_pdu(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < head_size_) {
        return 0;
    }
    if (parameters_.header_digest && !digest_matches(bytes.first(kBhsSize), bytes.data() + kBhsSize)) {
        ++statistics_.header_digest_errors;
        break_off("a PDU came damaged: its header digest is wrong");
        return 0;
    }
    const auto header = load<Bhs>(bytes);
    if (header.ahs_length != 0) {
        return fault("an additional header segment");
    }
    if (header.data_length > parameters_.max_receive_data) {
        return fault("a data segment of more than MaxRecvDataSegmentLength");
    }
    if (static_cast<Opcode>(header.opcode & kOpcodeMask) == Opcode::data_in) {
        return take_data_in(bytes);
    }
    return take_other(header, bytes);
}

// ---- data

std::size_t Session::take_data_in(std::span<const std::byte> bytes) noexcept {
    const auto pdu = load<DataIn>(bytes);
    const std::uint32_t length = pdu.data_length;
    Slot* slot = find(pdu.task_tag);
    if (slot == nullptr) {
        return fault("Data-In for a command that is not outstanding");
    }
    if (slot->transfer != Transfer::to_host) {
        return fault("Data-In for a command that reads nothing");
    }
    // A PDU without data, which only brings the status, is not counted by everybody.
    if (length != 0 && pdu.data_sn != slot->next_sn++) {
        return fault("a DataSN out of sequence");
    }
    if (length != 0 && pdu.offset != slot->moved) {
        return fault("Data-In out of order");
    }
    if (length > slot->length - slot->moved) {
        return fault("Data-In beyond the end of the command's buffer");
    }
    if ((pdu.flags & data_in_flag::kStatus) != 0) {
        if ((pdu.flags & kFinal) == 0) {
            return fault("status in Data-In that is not the last");
        }
        if (!take_status_number(pdu.stat_sn)) {
            return 0;
        }
    }
    take_window(pdu.exp_cmd_sn, pdu.max_cmd_sn);
    ++statistics_.pdus_received;

    const std::size_t here = std::min<std::size_t>(bytes.size() - head_size_, length);
    std::byte* target = slot->data + slot->moved;
    if (here > 0) {
        std::memcpy(target, bytes.data() + head_size_, here);
    }
    statistics_.payload_copied += here;
    slot->moved += length;
    payload_ = {slot, target, length, pdu.residual, pdu.flags, pdu.status};
    const std::size_t tail = payload_tail();
    if (here < length) {
        receiving_ = Receiving::payload;
        stream_.receive_direct(target + here, length - here, tail);
    } else if (tail == 0) {
        payload_received();
    } else {
        receiving_ = Receiving::tail;
    }
    return head_size_ + here;
}

void Session::on_direct_received() noexcept {
    if (payload_tail() != 0) {
        receiving_ = Receiving::tail;
    } else {
        receiving_ = Receiving::pdu;
        payload_received();
    }
}

std::size_t Session::take_tail(std::span<const std::byte> bytes) noexcept {
    const std::size_t size = payload_tail();
    if (bytes.size() < size) {
        return 0;
    }
    if (parameters_.data_digest) {
        const std::size_t padding = size - kDigestSize;
        const std::uint32_t state = crc32c({payload_.data, payload_.length}, kCrc32cBegin);
        const std::uint32_t digest = crc32c_end(crc32c(bytes.first(padding), state));
        if (digest != load<Le32>(bytes.subspan(padding))) {
            payload_.slot->damaged = true;
            ++statistics_.data_digest_errors;
        }
    }
    receiving_ = Receiving::pdu;
    payload_received();
    return size;
}

/// All data of a Data-In PDU is where it belongs.
void Session::payload_received() noexcept {
    if ((payload_.flags & data_in_flag::kStatus) != 0) {
        const bool underflow = (payload_.flags & residual_flag::kUnderflow) != 0;
        answer(*payload_.slot, {false, payload_.status, underflow ? payload_.residual : 0, {}});
    }
}

// ---- everything else

std::size_t Session::take_other(const Bhs& header, std::span<const std::byte> bytes) noexcept {
    const std::uint32_t length = header.data_length;
    if (length > kMaxOtherData) {
        return fault("more data than such a PDU has reason to carry");
    }
    const std::size_t digest = parameters_.data_digest && length > 0 ? kDigestSize : 0;
    const std::size_t size = head_size_ + padded(length) + digest;
    if (bytes.size() < size) {
        return 0;
    }
    const auto data = bytes.subspan(head_size_, length);
    if (digest != 0 && !digest_matches(bytes.subspan(head_size_, padded(length)),
                                       bytes.data() + head_size_ + padded(length))) {
        // At ErrorRecoveryLevel 0 nobody can ask for an answer again, nor for what came unasked.
        ++statistics_.data_digest_errors;
        break_off("an answer came damaged: its data digest is wrong");
        return 0;
    }
    ++statistics_.pdus_received;
    // All that a target sends has these two at the same place.
    take_window(load<NopIn>(bytes).exp_cmd_sn, load<NopIn>(bytes).max_cmd_sn);
    switch (static_cast<Opcode>(header.opcode & kOpcodeMask)) {
    case Opcode::scsi_response:
        take_response(load<ScsiResponse>(bytes), data);
        break;
    case Opcode::r2t:
        take_r2t(load<R2t>(bytes));
        break;
    case Opcode::nop_in:
        take_nop_in(load<NopIn>(bytes));
        break;
    case Opcode::async_message:
        take_async(load<AsyncMessage>(bytes), data);
        break;
    case Opcode::task_management_response:
        take_task_response(load<TaskManagementResponse>(bytes));
        break;
    case Opcode::logout_response:
        take_logout_response(load<LogoutResponse>(bytes));
        break;
    case Opcode::reject:
        take_reject(load<Reject>(bytes), data);
        break;
    default:
        fault("a PDU of a kind that nobody asked for");
    }
    return closing() ? 0 : size;
}

void Session::take_response(const ScsiResponse& pdu, std::span<const std::byte> data) noexcept {
    Slot* slot = find(pdu.task_tag);
    if (slot == nullptr) {
        fault("a response to a command that is not outstanding");
    } else if (take_status_number(pdu.stat_sn)) {
        if (pdu.response != 0) { // then the status means nothing
            answer(*slot, {true, scsi_status::kGood, 0, {}});
            return;
        }
        const bool underflow = (pdu.flags & residual_flag::kUnderflow) != 0;
        answer(*slot, {false, pdu.status, underflow ? pdu.residual.get() : 0, sense_of(data)});
    }
}

void Session::take_r2t(const R2t& pdu) noexcept {
    Slot* slot = find(pdu.task_tag);
    if (slot == nullptr) {
        fault("R2T for a command that is not outstanding");
    } else if (slot->transfer != Transfer::to_target) {
        fault("R2T for a command that writes nothing");
    } else if (pdu.data_length != 0) {
        fault("R2T that carries data");
    } else if (pdu.target_tag == kNoTag) {
        fault("R2T without a target transfer tag");
    } else if (pdu.desired_length == 0) {
        fault("R2T that asks for nothing");
    } else if (pdu.desired_length > parameters_.max_burst) {
        fault("R2T for more than MaxBurstLength");
    } else if (slot->r2ts == parameters_.max_outstanding_r2t) {
        // One is served, for us, once its data is in a send batch: a little earlier than the target can know.
        fault("more R2Ts outstanding than MaxOutstandingR2T allows");
    } else if (pdu.r2t_sn != slot->next_sn) {
        fault("an R2TSN out of sequence");
    } else if (pdu.offset != slot->requested) {
        fault("R2T out of order");
    } else if (pdu.desired_length > slot->length - slot->requested) {
        fault("R2T beyond the end of the command's buffer");
    } else {
        ++slot->next_sn;
        slot->requested += pdu.desired_length;
        r2t_of(*slot, slot->r2ts) = {slot->requested, pdu.target_tag};
        if (slot->r2ts++ == 0) {
            with_data_.push(slots_, static_cast<std::uint16_t>(slot->tag & kSlotMask));
        }
    }
}

} // namespace mpath::iscsi
