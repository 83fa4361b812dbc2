// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/queue.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

/// Payloads from here on are received where they belong, however little else is on the way.
constexpr std::uint32_t kDirectFrom = 16 * 1024;
/// Bytes a receive may put into staging while such payloads are expected: two headers. What of a payload
/// arrives with them is at most one header's worth.
constexpr std::size_t kSmallWindow = 2 * sizeof(C2hData);

constexpr std::uint16_t kSlotBits = 12;
constexpr std::uint16_t kSlotMask = (1U << kSlotBits) - 1;

template <typename T>
T load(std::span<const std::byte> bytes) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

constexpr std::uint32_t field(std::size_t offset) {
    return static_cast<std::uint32_t>(offset);
}

using enum FatalStatus;
constexpr ProtocolFault kUnknownType{"a PDU of unknown type", invalid_header_field,
                                     field(offsetof(CommonHeader, type))};
constexpr ProtocolFault kUnexpectedType{"a PDU that only a host sends, or only connecting allows",
                                        sequence_error, 0};
constexpr ProtocolFault kBadHlen{"a PDU with a wrong header length", invalid_header_field,
                                 field(offsetof(CommonHeader, hlen))};
constexpr ProtocolFault kBadPlen{"a PDU with an impossible length", invalid_header_field,
                                 field(offsetof(CommonHeader, plen))};
constexpr ProtocolFault kBadPdo{"a PDU whose data offset is impossible", invalid_header_field,
                                field(offsetof(CommonHeader, pdo))};
constexpr ProtocolFault kBadFlags{"a PDU with a digest that was not agreed on", invalid_header_field,
                                  field(offsetof(CommonHeader, flags))};
constexpr ProtocolFault kSuccessNotLast{"C2HData with SUCCESS but without LAST_PDU", invalid_header_field,
                                        field(offsetof(CommonHeader, flags))};
constexpr ProtocolFault kDataUnknownCid{"C2HData for a command that is not outstanding", invalid_header_field,
                                        field(offsetof(C2hData, cccid))};
constexpr ProtocolFault kDataUnasked{"C2HData for a command that reads nothing", invalid_header_field,
                                     field(offsetof(C2hData, cccid))};
constexpr ProtocolFault kDataOutOfOrder{"C2HData out of order", invalid_header_field,
                                        field(offsetof(C2hData, datao))};
constexpr ProtocolFault kDataBeyond{"C2HData beyond the end of the command's buffer", data_out_of_range, 0};
constexpr ProtocolFault kDataEmpty{"C2HData without data", invalid_header_field,
                                   field(offsetof(C2hData, datal))};
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

Queue::Queue(net::Reactor& reactor, UniqueFd socket, const QueueParameters& parameters, QueueClient& client)
    : parameters_(parameters), client_(client), slots_(parameters.size - 1U),
      stream_(reactor, std::move(socket), *this) {
    for (std::size_t i = slots_.size(); i-- > 0;) {
        slots_[i].cid = static_cast<std::uint16_t>(i);
        slots_[i].next = free_head_;
        free_head_ = static_cast<std::uint16_t>(i);
    }
    stream_.set_window(kSmallWindow);
    stream_.start();
}

Queue::~Queue() = default;

std::size_t Queue::data_start(std::size_t header) const noexcept {
    const std::size_t alignment = (parameters_.cpda + 1U) * 4U;
    return (header + alignment - 1) / alignment * alignment;
}

void Queue::submit(const Sqe& sqe, Transfer transfer, std::byte* data, std::uint32_t length,
                   void* owner) noexcept {
    const std::uint16_t index = free_head_;
    Slot& slot = slots_[index];
    free_head_ = slot.next;
    slot.owner = owner;
    slot.data = data;
    slot.length = length;
    slot.received = slot.requested = slot.h2c_next = 0;
    slot.batch = 0;
    slot.transfer = transfer;
    slot.open = true;
    slot.last_received = slot.answered = false;
    ++outstanding_;
    // The receive that will get the answer is staged before the next command comes: the window must stay
    // small between one large read and the next, and widens with the first command of another kind.
    if (transfer == Transfer::to_host && length >= kDirectFrom) {
        ++large_reads_;
        stream_.set_window(kSmallWindow);
    } else if (large_reads_ == 0) {
        stream_.set_window(net::Stream::kStagingSize);
    }

    const bool in_capsule = transfer == Transfer::to_controller && length <= parameters_.in_capsule;
    const std::size_t start = in_capsule ? data_start(sizeof(CapsuleCmd)) : sizeof(CapsuleCmd);
    auto* capsule = reinterpret_cast<CapsuleCmd*>(stream_.append_header(start));
    std::memset(reinterpret_cast<std::byte*>(capsule) + sizeof(CapsuleCmd), 0, start - sizeof(CapsuleCmd));
    capsule->common = {};
    capsule->common.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
    capsule->common.hlen = sizeof(CapsuleCmd);
    capsule->sqe = sqe;
    capsule->sqe.cid = slot.cid;
    capsule->sqe.flags = kSqeFlagsSgl;
    capsule->sqe.sgl = {};
    capsule->sqe.sgl.length = length;
    if (in_capsule) {
        capsule->common.pdo = static_cast<std::uint8_t>(start);
        capsule->common.plen = static_cast<std::uint32_t>(start) + length;
        capsule->sqe.sgl.identifier = kSglInCapsule;
        stream_.append_payload(data, length);
        slot.requested = slot.h2c_next = length;
        slot.batch = stream_.open_batch();
    } else {
        capsule->common.plen = sizeof(CapsuleCmd);
        capsule->sqe.sgl.identifier = kSglTransportDataBlock;
    }
    ++statistics_.pdus_sent;
}

// ---- receiving

Queue::Slot* Queue::find(std::uint16_t cid) noexcept {
    const std::uint16_t index = cid & kSlotMask;
    if (index >= slots_.size() || !slots_[index].open || slots_[index].cid != cid) {
        return nullptr;
    }
    return &slots_[index];
}

std::size_t Queue::on_data(std::span<const std::byte> bytes) noexcept {
    std::size_t consumed = 0;
    while (!stream_.closing() && direct_slot_ == nullptr) {
        const auto rest = bytes.subspan(consumed);
        if (rest.size() < sizeof(C2hData)) { // every PDU a controller may send is at least this long
            break;
        }
        std::size_t taken = 0;
        const auto common = load<CommonHeader>(rest);
        if ((common.flags & (pdu_flag::kHeaderDigest | pdu_flag::kDataDigest)) != 0) {
            taken = fault(kBadFlags, rest);
        } else {
            switch (static_cast<PduType>(common.type)) {
            case PduType::c2h_data:
                taken = take_c2h_data(rest);
                break;
            case PduType::capsule_resp:
                taken = take_capsule_resp(rest);
                break;
            case PduType::r2t:
                taken = take_r2t(rest);
                break;
            case PduType::c2h_term_req:
                taken = take_term_req(rest);
                break;
            case PduType::ic_req:
            case PduType::ic_resp:
            case PduType::h2c_term_req:
            case PduType::capsule_cmd:
            case PduType::h2c_data:
                taken = fault(kUnexpectedType, rest);
                break;
            default:
                taken = fault(kUnknownType, rest);
            }
        }
        if (taken == 0) {
            break;
        }
        consumed += taken;
        ++statistics_.pdus_received;
    }
    if (h2c_head_ != kNoSlot && !stream_.closing()) {
        pump_h2c();
    }
    return consumed;
}

std::size_t Queue::take_c2h_data(std::span<const std::byte> bytes) noexcept {
    const auto pdu = load<C2hData>(bytes);
    const std::uint32_t length = pdu.datal;
    if (pdu.common.hlen != sizeof(C2hData)) {
        return fault(kBadHlen, bytes);
    }
    if (pdu.common.pdo < sizeof(C2hData) || pdu.common.pdo > 128 || pdu.common.pdo % 4 != 0) {
        return fault(kBadPdo, bytes);
    }
    if (length == 0) {
        return fault(kDataEmpty, bytes);
    }
    if (std::uint64_t{pdu.common.plen} != std::uint64_t{pdu.common.pdo} + length) {
        return fault(kBadPlen, bytes);
    }
    if ((pdu.common.flags & (pdu_flag::kSuccess | pdu_flag::kLastPdu)) == pdu_flag::kSuccess) {
        return fault(kSuccessNotLast, bytes);
    }
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
    if (pdu.datao != slot->received) {
        return fault(kDataOutOfOrder, bytes);
    }
    if (length > slot->length - slot->received) {
        return fault(kDataBeyond, bytes);
    }
    if (bytes.size() < pdu.common.pdo) {
        return 0;
    }
    const std::size_t here = std::min<std::size_t>(bytes.size() - pdu.common.pdo, length);
    std::byte* target = slot->data + slot->received;
    std::memcpy(target, bytes.data() + pdu.common.pdo, here);
    statistics_.payload_copied += here;
    slot->received += length;
    if (here < length) {
        direct_slot_ = slot;
        direct_flags_ = pdu.common.flags;
        stream_.receive_direct(target + here, length - here);
    } else {
        data_received(*slot, pdu.common.flags);
    }
    return pdu.common.pdo + here;
}

void Queue::on_direct_received() noexcept {
    Slot& slot = *direct_slot_;
    direct_slot_ = nullptr;
    data_received(slot, direct_flags_);
}

void Queue::data_received(Slot& slot, std::uint8_t flags) noexcept {
    slot.last_received = (flags & pdu_flag::kLastPdu) != 0;
    if ((flags & pdu_flag::kSuccess) != 0) {
        Cqe cqe;
        cqe.cid = slot.cid;
        answer(slot, cqe);
    }
}

std::size_t Queue::take_capsule_resp(std::span<const std::byte> bytes) noexcept {
    const auto pdu = load<CapsuleResp>(bytes);
    if (pdu.common.hlen != sizeof(CapsuleResp)) {
        return fault(kBadHlen, bytes);
    }
    if (pdu.common.plen != sizeof(CapsuleResp)) {
        return fault(kBadPlen, bytes);
    }
    Slot* slot = find(pdu.cqe.cid);
    if (slot == nullptr) {
        return fault(kAnswerUnknownCid, bytes);
    }
    if (slot->answered) {
        return fault(kAnsweredTwice, bytes);
    }
    answer(*slot, pdu.cqe);
    return sizeof(CapsuleResp);
}

std::size_t Queue::take_r2t(std::span<const std::byte> bytes) noexcept {
    const auto pdu = load<R2t>(bytes);
    if (pdu.common.hlen != sizeof(R2t)) {
        return fault(kBadHlen, bytes);
    }
    if (pdu.common.plen != sizeof(R2t)) {
        return fault(kBadPlen, bytes);
    }
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
    if (slot->h2c_next != slot->requested) {
        return fault(kR2tTooMany, bytes);
    }
    if (pdu.r2to != slot->requested) {
        return fault(kR2tOutOfOrder, bytes);
    }
    if (pdu.r2tl > slot->length - slot->requested) {
        return fault(kR2tBeyond, bytes);
    }
    slot->ttag = pdu.ttag;
    slot->h2c_next = slot->requested;
    slot->requested += pdu.r2tl;
    slot->next = kNoSlot;
    const std::uint16_t index = slot->cid & kSlotMask;
    (h2c_head_ == kNoSlot ? h2c_head_ : slots_[h2c_tail_].next) = index;
    h2c_tail_ = index;
    return sizeof(R2t);
}

std::size_t Queue::take_term_req(std::span<const std::byte> bytes) noexcept {
    const auto pdu = load<TermReq>(bytes);
    close({EPROTO, fmt::format("the controller ended the connection: {}", term_req_text(pdu))},
          net::Stream::Ending::abort);
    return sizeof(TermReq);
}

std::size_t Queue::fault(const ProtocolFault& fault, std::span<const std::byte> pdu) noexcept {
    const std::size_t header = std::min<std::size_t>(
        pdu.size(), std::min<std::size_t>(std::to_integer<std::uint8_t>(pdu[2]), kMaxTermReqData));
    struct {
        TermReq request;
        std::array<std::byte, kMaxTermReqData> offender{};
    } message;
    message.request.common.type = static_cast<std::uint8_t>(PduType::h2c_term_req);
    message.request.common.hlen = sizeof(TermReq);
    message.request.common.plen = static_cast<std::uint32_t>(sizeof(TermReq) + header);
    message.request.fes = static_cast<std::uint16_t>(fault.fes);
    message.request.fei = fault.fei;
    std::memcpy(message.offender.data(), pdu.data(), header);
    // The connection ends here, so one system call of its own is no loss; if a batch is on its way the
    // request would land in the middle of it and is left out.
    if (!stream_.sending()) {
        [[maybe_unused]] const auto sent =
            ::send(stream_.fd(), &message, message.request.common.plen, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    close({EPROTO, fmt::format("the controller broke the protocol: it sent {}", fault.name)},
          net::Stream::Ending::orderly);
    return 0;
}

// ---- sending data that an R2T asked for

void Queue::pump_h2c() noexcept {
    const std::size_t start = data_start(sizeof(H2cData));
    while (h2c_head_ != kNoSlot) {
        Slot& slot = slots_[h2c_head_];
        while (slot.h2c_next < slot.requested && stream_.has_room(start)) {
            const std::uint32_t length = std::min(slot.requested - slot.h2c_next, parameters_.max_h2c_data);
            const bool last = slot.h2c_next + length == slot.requested;
            std::byte* room = stream_.append_header(start);
            std::memset(room, 0, start);
            auto* pdu = reinterpret_cast<H2cData*>(room);
            pdu->common.type = static_cast<std::uint8_t>(PduType::h2c_data);
            pdu->common.flags = last ? pdu_flag::kLastPdu : 0;
            pdu->common.hlen = sizeof(H2cData);
            pdu->common.pdo = static_cast<std::uint8_t>(start);
            pdu->common.plen = static_cast<std::uint32_t>(start) + length;
            pdu->cccid = slot.cid;
            pdu->ttag = slot.ttag;
            pdu->datao = slot.h2c_next;
            pdu->datal = length;
            stream_.append_payload(slot.data + slot.h2c_next, length);
            slot.batch = stream_.open_batch();
            slot.h2c_next += length;
            ++statistics_.pdus_sent;
        }
        if (slot.h2c_next < slot.requested) {
            break; // the rest goes with the next batch
        }
        h2c_head_ = slot.next;
    }
    stream_.flush();
}

void Queue::drop_h2c(std::uint16_t index) noexcept {
    std::uint16_t* link = &h2c_head_;
    std::uint16_t previous = kNoSlot;
    while (*link != kNoSlot && *link != index) {
        previous = *link;
        link = &slots_[*link].next;
    }
    if (*link == index) {
        *link = slots_[index].next;
        if (h2c_tail_ == index) {
            h2c_tail_ = previous;
        }
    }
}

void Queue::on_sent() noexcept {
    if (h2c_head_ != kNoSlot && !stream_.closing()) {
        pump_h2c();
    }
    if (waiting_answers_ > 0) {
        for (Slot& slot : slots_) {
            if (slot.answered && slot.batch <= stream_.sent_batch()) {
                --waiting_answers_;
                finish(slot, slot.cqe, false);
            }
        }
    }
    client_.on_sent();
}

// ---- ending

void Queue::answer(Slot& slot, const Cqe& cqe) noexcept {
    if (slot.transfer == Transfer::to_controller) {
        drop_h2c(slot.cid & kSlotMask); // an early answer is legal: then nothing more of its data is sent
        if (slot.batch > stream_.sent_batch()) {
            slot.cqe = cqe;
            slot.answered = true;
            ++waiting_answers_;
            return;
        }
    }
    finish(slot, cqe, false);
}

void Queue::finish(Slot& slot, const Cqe& cqe, bool lost) noexcept {
    Completion completion{slot.owner, Status::from_cqe(cqe.status), cqe.dw0, cqe.dw1, lost};
    if (completion.status.ok() && !lost) {
        // Success with data missing is no success.
        const bool complete = slot.transfer == Transfer::to_host         ? slot.received == slot.length
                              : slot.transfer == Transfer::to_controller ? slot.h2c_next == slot.length
                                                                         : true;
        if (!complete) {
            completion.status = Status(StatusCode::data_transfer_error);
        }
    }
    if (slot.transfer == Transfer::to_host && slot.length >= kDirectFrom) {
        --large_reads_;
    }
    const std::uint16_t index = slot.cid & kSlotMask;
    slot.cid =
        static_cast<std::uint16_t>(slot.cid + (1U << kSlotBits)); // the next use has another generation
    slot.open = slot.answered = false;
    slot.next = free_head_;
    free_head_ = index;
    --outstanding_;
    client_.on_command_done(completion);
}

void Queue::on_closed(const Error& error) noexcept {
    Cqe cqe;
    cqe.status = Status(StatusCode::aborted_by_host).to_cqe();
    h2c_head_ = kNoSlot;
    direct_slot_ = nullptr;
    for (Slot& slot : slots_) {
        if (slot.open) {
            finish(slot, slot.answered ? slot.cqe : cqe, !slot.answered);
        }
    }
    client_.on_queue_closed(error);
}

} // namespace mpath::nvme
