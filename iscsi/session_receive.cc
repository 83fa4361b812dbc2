// SPDX-License-Identifier: GPL-2.0-only
// What a target sends, against the commands that are outstanding.
#include <algorithm>
#include <cstring>

#include "iscsi/session.h"

namespace mpath::iscsi {
namespace {

/// No PDU but Data-In has reason to carry more: sense data, the header of a rejected PDU, a ping's echo.
constexpr std::uint32_t kMaxOtherData = 16 * 1024;

/// The sense data of a segment that begins with its length. RFC 7143, section 11.4.7.
std::span<const std::byte> sense_of(std::span<const std::byte> data) {
    if (data.size() < sizeof(Be16)) {
        return {};
    }
    const std::size_t length = load<Be16>(data).get();
    return data.subspan(sizeof(Be16), std::min(length, data.size() - sizeof(Be16)));
}

std::string_view reject_text(std::uint8_t reason) {
    switch (reason) {
    case reject_reason::kSnackReject:
        return "SNACK";
    case reject_reason::kProtocolError:
        return "protocol error";
    case reject_reason::kCommandNotSupported:
        return "command not supported";
    case reject_reason::kTooManyImmediate:
        return "too many immediate commands";
    case reject_reason::kTaskInProgress:
        return "task in progress";
    case reject_reason::kInvalidPduField:
        return "invalid PDU field";
    case reject_reason::kOutOfResources:
        return "out of resources";
    case reject_reason::kWaitingForLogout:
        return "waiting for logout";
    default:
        return "unknown reason";
    }
}

} // namespace

Session::Slot* Session::find(std::uint32_t tag) noexcept {
    const std::uint32_t index = tag & kSlotMask;
    if (index >= slots_.size() || !slots_[index].open || slots_[index].answered || slots_[index].tag != tag) {
        return nullptr;
    }
    return &slots_[index];
}

/// RFC 7143, section 4.2.2.1: what is out of range, or older than what is known, is ignored.
void Session::take_window(std::uint32_t exp_cmd_sn, std::uint32_t max_cmd_sn) noexcept {
    if (!comes_before(max_cmd_sn, exp_cmd_sn - 1) && comes_before(numbers_.max_cmd_sn, max_cmd_sn)) {
        numbers_.max_cmd_sn = max_cmd_sn;
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
    if (!stream_.closing()) {
        if (data_head_ != kNoSlot) {
            pump_data();
        }
        const bool closed = comes_before(numbers_.max_cmd_sn, numbers_.cmd_sn);
        if (window_was_closed_ && !closed) {
            client_.on_room();
        }
        statistics_.window_closed += closed && !window_was_closed_ ? 1 : 0;
        window_was_closed_ = closed;
    }
    return consumed;
}

std::size_t Session::take_pdu(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < head_size_) {
        return 0;
    }
    if (parameters_.header_digest && !digest_matches(bytes.first(kBhsSize), bytes.data() + kBhsSize)) {
        ++statistics_.header_digest_errors;
        stream_.close({EPROTO, "a header's digest was wrong"},
                      write_data_sent() ? net::Stream::Ending::abort : net::Stream::Ending::orderly);
        return 0;
    }
    const Bhs header = load<Bhs>(bytes);
    if (header.ahs_length != 0) {
        fault("an additional header segment");
        return 0;
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
        fault("Data-In for a command that is not outstanding");
    } else if (slot->transfer != Transfer::to_host) {
        fault("Data-In for a command that reads nothing");
    } else if (length > parameters_.max_receive_data) {
        fault("Data-In of more than MaxRecvDataSegmentLength");
    } else if (pdu.offset != slot->moved && length != 0) {
        fault("Data-In out of order");
    } else if (length > slot->length - slot->moved) {
        fault("Data-In beyond the end of the command's buffer");
    }
    if (closing()) {
        return 0;
    }
    ++statistics_.pdus_received;
    const std::size_t here = std::min<std::size_t>(bytes.size() - head_size_, length);
    std::byte* target = slot->data + slot->moved;
    if (here > 0) {
        std::memcpy(target, bytes.data() + head_size_, here);
    }
    statistics_.payload_copied += here;
    slot->moved += length;
    payload_ = {slot, target, length, pdu};
    const std::size_t tail =
        padded(length) - length + (parameters_.data_digest && length > 0 ? kDigestSize : 0);
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
    const bool tail = padded(payload_.length) != payload_.length || parameters_.data_digest;
    receiving_ = tail ? Receiving::tail : Receiving::pdu;
    if (!tail) {
        payload_received();
    }
}

std::size_t Session::take_tail(std::span<const std::byte> bytes) noexcept {
    const std::size_t padding = padded(payload_.length) - payload_.length;
    const std::size_t size = padding + (parameters_.data_digest ? kDigestSize : 0);
    if (bytes.size() < size) {
        return 0;
    }
    if (parameters_.data_digest) {
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
    const DataIn& pdu = payload_.header;
    take_window(pdu.exp_cmd_sn, pdu.max_cmd_sn);
    if ((pdu.flags & data_in_flag::kStatus) == 0) {
        return;
    }
    if ((pdu.flags & kFinal) == 0) {
        fault("status in Data-In that is not the last");
    } else if (take_status_number(pdu.stat_sn)) {
        answer(*payload_.slot, {false, pdu.status, 0, {}});
    }
}

// ---- everything else

std::size_t Session::take_other(const Bhs& header, std::span<const std::byte> bytes) noexcept {
    const std::uint32_t length = header.data_length;
    if (length > kMaxOtherData) {
        fault("more data than such a PDU has reason to carry");
        return 0;
    }
    const std::size_t digest = parameters_.data_digest && length > 0 ? kDigestSize : 0;
    const std::size_t size = head_size_ + padded(length) + digest;
    if (bytes.size() < size) {
        return 0;
    }
    const auto data = bytes.subspan(head_size_, length);
    if (digest != 0 && !digest_matches(bytes.subspan(head_size_, padded(length)),
                                       bytes.data() + head_size_ + padded(length))) {
        ++statistics_.data_digest_errors;
        fault("an answer whose data has a wrong digest");
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
        if (take_status_number(load<LogoutResponse>(bytes).stat_sn)) {
            client_.on_logged_out(load<LogoutResponse>(bytes).response);
        }
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
        return;
    }
    if (!take_status_number(pdu.stat_sn)) {
        return;
    }
    const std::uint32_t residual = (pdu.flags & residual_flag::kUnderflow) != 0 ? pdu.residual.get() : 0;
    answer(*slot, {pdu.response != 0, pdu.status, residual, sense_of(data)});
}

void Session::take_r2t(const R2t& pdu) noexcept {
    Slot* slot = find(pdu.task_tag);
    if (slot == nullptr) {
        fault("R2T for a command that is not outstanding");
    } else if (slot->transfer != Transfer::to_target) {
        fault("R2T for a command that writes nothing");
    } else if (pdu.desired_length == 0) {
        fault("R2T that asks for nothing");
    } else if (pdu.desired_length > parameters_.max_burst) {
        fault("R2T for more than MaxBurstLength");
    } else if (slot->r2ts == parameters_.max_outstanding_r2t) {
        // One is served, for us, once its data is in a send batch: a little earlier than the target can know.
        fault("more R2Ts outstanding than MaxOutstandingR2T allows");
    } else if (pdu.offset != slot->requested) {
        fault("R2T out of order");
    } else if (pdu.desired_length > slot->length - slot->requested) {
        fault("R2T beyond the end of the command's buffer");
    } else {
        slot->requested += pdu.desired_length;
        r2t_of(*slot, slot->r2ts) = {slot->requested, pdu.target_tag};
        if (slot->r2ts++ == 0) {
            enqueue_data(static_cast<std::uint16_t>(slot->tag & kSlotMask));
        }
    }
}

void Session::take_nop_in(const NopIn& pdu) noexcept {
    if (pdu.task_tag != kNoTag && !take_status_number(pdu.stat_sn)) {
        return;
    }
    if (pdu.target_tag != kNoTag) {
        ping_ = pdu;
        answer_ping();
    } else if (pdu.task_tag == kPing) {
        client_.on_pong();
    }
}

void Session::take_async(const AsyncMessage& pdu, std::span<const std::byte> data) noexcept {
    if (take_status_number(pdu.stat_sn)) {
        client_.on_async({pdu.event, pdu.parameter1, pdu.parameter2, pdu.parameter3,
                          pdu.event == async_event::kScsi ? sense_of(data) : std::span<const std::byte>{}});
    }
}

void Session::take_task_response(const TaskManagementResponse& pdu) noexcept {
    if (take_status_number(pdu.stat_sn)) {
        client_.on_task_managed(pdu.task_tag, pdu.response);
    }
}

/// Data of ours that came damaged fails its command, whose status follows (section 7.8). Whatever else a
/// target does not take it will not answer either, so the session is at its end.
void Session::take_reject(const Reject& pdu, std::span<const std::byte> data) noexcept {
    if (!take_status_number(pdu.stat_sn) || pdu.reason == reject_reason::kDataDigestError) {
        return;
    }
    const unsigned opcode = data.size() >= kBhsSize ? load<Bhs>(data).opcode & kOpcodeMask : 0;
    stream_.close({EPROTO, fmt::format("the target rejected a PDU (opcode {:02x}h): {} (reason {:02x}h)",
                                       opcode, reject_text(pdu.reason), pdu.reason)},
                  net::Stream::Ending::abort);
}

} // namespace mpath::iscsi
