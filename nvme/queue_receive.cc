// SPDX-License-Identifier: GPL-2.0-only
// What a controller sends, against the commands that are outstanding. What can be said of a PDU alone has
// been said by check_pdu().
#include <algorithm>
#include <cstring>

#include "nvme/pdu_check.h"
#include "nvme/queue.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

using enum FatalStatus;

constexpr ProtocolFault kDataUnknownCid{"C2HData for a command that is not outstanding", invalid_header_field,
                                        field(offsetof(C2hData, cccid))};
constexpr ProtocolFault kDataUnasked{"C2HData for a command that reads nothing", invalid_header_field,
                                     field(offsetof(C2hData, cccid))};
constexpr ProtocolFault kDataOutOfOrder{"C2HData out of order", invalid_header_field,
                                        field(offsetof(C2hData, datao))};
constexpr ProtocolFault kDataBeyond{"C2HData beyond the end of the command's buffer", data_out_of_range, 0};
constexpr ProtocolFault kDataAfterLast{"C2HData after LAST_PDU", sequence_error, 0};
constexpr ProtocolFault kAnswerUnknownCid{"a completion for a command that is not outstanding",
                                          invalid_header_field,
                                          field(offsetof(CapsuleResp, cqe) + offsetof(Cqe, cid))};
constexpr ProtocolFault kAnsweredTwice{"a second completion for the same command", sequence_error, 0};
constexpr ProtocolFault kR2tUnknownCid{"R2T for a command that is not outstanding", invalid_header_field,
                                       field(offsetof(R2t, cccid))};
constexpr ProtocolFault kR2tUnasked{"R2T for a command that writes nothing", invalid_header_field,
                                    field(offsetof(R2t, cccid))};
constexpr ProtocolFault kR2tEmpty{"R2T that asks for nothing", invalid_header_field,
                                  field(offsetof(R2t, r2tl))};
constexpr ProtocolFault kR2tOutOfOrder{"R2T out of order", invalid_header_field, field(offsetof(R2t, r2to))};
constexpr ProtocolFault kR2tBeyond{"R2T beyond the end of the command's buffer", data_out_of_range, 0};
constexpr ProtocolFault kR2tTooMany{"more R2Ts outstanding than MAXR2T allows", data_limit_exceeded, 0};

} // namespace

Queue::Slot* Queue::find(std::uint16_t cid) noexcept {
    const std::uint16_t index = cid & kSlotMask;
    if (index >= slots_.size() || !slots_[index].open || slots_[index].cid != cid) {
        return nullptr;
    }
    return &slots_[index];
}

[[gnu::always_inline]] inline std::size_t Queue::take_pdu(std::span<const std::byte> bytes) noexcept {
    if (plain_) {
        if (is_plain_response(bytes)) {
            ++statistics_.pdus_received;
            return take_capsule_resp(bytes, sizeof(CapsuleResp));
        }
        if (is_plain_data(bytes)) {
            ++statistics_.pdus_received;
            return take_c2h_data(bytes, sizeof(C2hData));
        }
    }
    const PduVerdict verdict = check_pdu(bytes, parameters_.pdu);
    if (verdict.fault != nullptr) {
        return fault(*verdict.fault, bytes);
    }
    if (verdict.head == 0) {
        return 0;
    }
    ++statistics_.pdus_received;
    switch (static_cast<PduType>(bytes[0])) {
    case PduType::c2h_data:
        return take_c2h_data(bytes, verdict.head);
    case PduType::capsule_resp:
        return take_capsule_resp(bytes, verdict.head);
    case PduType::r2t:
        return take_r2t(bytes, verdict.head);
    default:
        return take_term_req(bytes);
    }
}

std::size_t Queue::on_data(std::span<const std::byte> bytes) noexcept {
    std::size_t consumed = 0;
    while (!stream_.closing() && receiving_ != Receiving::payload) {
        const auto rest = bytes.subspan(consumed);
        const std::size_t taken = receiving_ == Receiving::pdu ? take_pdu(rest) : take_data_digest(rest);
        if (taken == 0) {
            break;
        }
        consumed += taken;
    }
    if (!with_h2c_.empty() && !stream_.closing()) {
        pump_h2c();
    }
    return consumed;
}

std::size_t Queue::take_c2h_data(std::span<const std::byte> bytes, std::uint32_t head) noexcept {
    const auto pdu = load<C2hData>(bytes);
    const std::uint32_t length = pdu.datal;
    Slot* slot = find(pdu.cccid);
    if (slot == nullptr) {
        return fault(kDataUnknownCid, bytes);
    }
    if (slot->transfer != Transfer::to_host) {
        return fault(kDataUnasked, bytes);
    }
    if (slot->last_received) {
        return fault(kDataAfterLast, bytes);
    }
    if (pdu.datao != slot->moved) {
        return fault(kDataOutOfOrder, bytes);
    }
    if (length > slot->length - slot->moved) {
        return fault(kDataBeyond, bytes);
    }
    const std::size_t here = std::min<std::size_t>(bytes.size() - head, length);
    std::byte* target = slot->data + slot->moved;
    std::memcpy(target, bytes.data() + head, here);
    statistics_.payload_copied += here;
    slot->moved += length;
    const bool with_digest = parameters_.pdu.data_digest;
    if (here == length && !with_digest) {
        data_received(*slot, pdu.common.flags);
        return head + here;
    }
    payload_ = {slot, target, length, pdu.common.flags};
    receiving_ = Receiving::digest;
    if (here < length) {
        receiving_ = Receiving::payload;
        stream_.receive_direct(target + here, length - here, with_digest ? kDigestSize : 0);
    }
    return head + here;
}

void Queue::on_direct_received() noexcept {
    if (parameters_.pdu.data_digest) {
        receiving_ = Receiving::digest;
    } else {
        receiving_ = Receiving::pdu;
        data_received(*payload_.slot, payload_.flags);
    }
}

std::size_t Queue::take_data_digest(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < kDigestSize) {
        return 0;
    }
    if (!digest_matches({payload_.data, payload_.length}, bytes.data())) {
        payload_.slot->damaged = true;
        ++statistics_.data_digest_errors;
    }
    receiving_ = Receiving::pdu;
    data_received(*payload_.slot, payload_.flags);
    return kDigestSize;
}

/// All data of a C2HData PDU is where it belongs.
void Queue::data_received(Slot& slot, std::uint8_t flags) noexcept {
    slot.last_received = (flags & pdu_flag::kLastPdu) != 0;
    if ((flags & pdu_flag::kSuccess) != 0) {
        Cqe cqe;
        cqe.cid = slot.cid;
        answer(slot, cqe);
    }
}

std::size_t Queue::take_capsule_resp(std::span<const std::byte> bytes, std::uint32_t head) noexcept {
    const auto pdu = load<CapsuleResp>(bytes);
    Slot* slot = find(pdu.cqe.cid);
    if (slot == nullptr) {
        return fault(kAnswerUnknownCid, bytes);
    }
    if (slot->answered) {
        return fault(kAnsweredTwice, bytes);
    }
    answer(*slot, pdu.cqe);
    return head;
}

std::size_t Queue::take_r2t(std::span<const std::byte> bytes, std::uint32_t head) noexcept {
    const auto pdu = load<R2t>(bytes);
    Slot* slot = find(pdu.cccid);
    if (slot == nullptr || slot->answered) {
        return fault(kR2tUnknownCid, bytes);
    }
    if (slot->transfer != Transfer::to_controller) {
        return fault(kR2tUnasked, bytes);
    }
    if (pdu.r2tl == 0) {
        return fault(kR2tEmpty, bytes);
    }
    // One is served, for us, once its data is in a send batch: a little earlier than the controller can know.
    if (slot->r2ts == parameters_.pdu.max_r2t) {
        return fault(kR2tTooMany, bytes);
    }
    if (pdu.r2to != slot->requested) {
        return fault(kR2tOutOfOrder, bytes);
    }
    if (pdu.r2tl > slot->length - slot->requested) {
        return fault(kR2tBeyond, bytes);
    }
    slot->requested += pdu.r2tl;
    r2t_of(*slot, slot->r2ts) = {slot->requested, pdu.ttag};
    if (slot->r2ts++ == 0) {
        with_h2c_.push(slots_, slot->cid & kSlotMask);
    }
    return head;
}

std::size_t Queue::take_term_req(std::span<const std::byte> bytes) noexcept {
    const auto pdu = load<TermReq>(bytes);
    close({EPROTO, fmt::format("the controller ended the connection: {}", term_req_text(pdu))},
          net::Stream::Ending::abort);
    return sizeof(TermReq);
}

} // namespace mpath::nvme
