// SPDX-License-Identifier: GPL-2.0-only
// A queue's beginning, and how commands and the connection end. What comes is in queue_receive.cc, what goes
// in queue_send.cc.
#include "nvme/queue.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "nvme/pdu_check.h"

namespace mpath::nvme {

Queue::Queue(net::Reactor& reactor, UniqueFd socket, const QueueParameters& parameters, QueueClient& client)
    : parameters_(parameters),
      plain_(!parameters.pdu.header_digest && !parameters.pdu.data_digest && parameters.pdu.hpda == 0),
      client_(client), slots_(parameters.size - 1U), r2ts_(slots_.size() * parameters.pdu.max_r2t),
      stream_(reactor, std::move(socket), *this) {
    const std::size_t digest = parameters_.pdu.header_digest ? kDigestSize : 0;
    capsule_head_ = sizeof(CapsuleCmd) + digest;
    capsule_data_ = data_start(capsule_head_, parameters_.cpda);
    h2c_data_ = data_start(sizeof(H2cData) + digest, parameters_.cpda);
    // Two headers. What of a payload arrives with them is at most one header's worth.
    small_window_ = data_start(sizeof(C2hData) + digest, parameters_.pdu.hpda) + sizeof(C2hData) + digest;
    for (std::size_t i = slots_.size(); i-- > 0;) {
        slots_[i].cid = static_cast<std::uint16_t>(i);
        slots_[i].next = free_head_;
        free_head_ = static_cast<std::uint16_t>(i);
    }
    stream_.set_window(small_window_);
    stream_.start();
}

Queue::~Queue() = default;

void Queue::answer(Slot& slot, const Cqe& cqe) noexcept {
    if (slot.transfer == Transfer::to_controller) {
        if (slot.r2ts > 0) { // an early answer is legal: then nothing more of its data is sent
            drop_h2c(slot.cid & kSlotMask);
        }
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
    Completion completion{slot.owner, Status::from_cqe(cqe.status), cqe.dw0, cqe.dw1, lost, false};
    if (lost) {
        completion.unsent = slot.transfer == Transfer::to_controller &&
                            (slot.moved < slot.length || slot.batch == stream_.open_batch());
    } else if (slot.damaged || slot.moved != slot.length) {
        // Success with data damaged or missing is no success.
        if (completion.status.ok()) {
            completion.status = Status(slot.damaged ? StatusCode::transient_transport_error
                                                    : StatusCode::data_transfer_error);
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

bool Queue::write_data_sent() const noexcept {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.open && slot.batch != 0; });
}

/// Ends the connection for what the controller did, and tells it so where that is still possible: with one
/// system call of its own, which is no loss here. When a batch is on its way the request would land in the
/// middle of it and is left out; a controller that has let the connection fill up would not read it anyway.
///
/// Which write was executed becomes unknown; the less of it can still arrive, the better. So while the
/// network may hold a write's data the connection is reset, otherwise closed in order. The request is off by
/// then: it goes out from within send(), unless the controller does not read.
std::size_t Queue::fault(const ProtocolFault& fault, std::span<const std::byte> pdu) noexcept {
    ++(fault.fes == FatalStatus::header_digest_error ? statistics_.header_digest_errors
                                                     : statistics_.protocol_violations);
    const std::size_t header = std::min<std::size_t>(
        pdu.size(), std::min<std::size_t>(load<CommonHeader>(pdu).hlen, kMaxTermReqData));
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
    if (!stream_.sending()) {
        [[maybe_unused]] const auto sent =
            ::send(stream_.fd(), &message, message.request.common.plen, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    close({EPROTO, fmt::format("the controller broke the protocol: it sent {}", fault.name)},
          write_data_sent() ? net::Stream::Ending::abort : net::Stream::Ending::orderly);
    return 0;
}

void Queue::on_closed(const Error& error) noexcept {
    Cqe cqe;
    cqe.status = Status(StatusCode::aborted_by_host).to_cqe();
    with_h2c_.clear();
    receiving_ = Receiving::pdu;
    for (Slot& slot : slots_) {
        if (slot.open) {
            finish(slot, slot.answered ? slot.cqe : cqe, !slot.answered);
        }
    }
    client_.on_queue_closed(error);
}

} // namespace mpath::nvme
