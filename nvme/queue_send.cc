// SPDX-License-Identifier: GPL-2.0-only
// What a queue sends: command capsules, and data as R2Ts ask for it.
#include <algorithm>
#include <cstring>

#include "nvme/pdu_check.h"
#include "nvme/queue.h"

namespace mpath::nvme {
namespace {

/// What data for R2Ts leaves free of a batch, so that commands don't wait for megabytes to go out first.
constexpr std::size_t kReservedHeaders = net::Stream::kBatchHeaderSize / 4;
constexpr std::size_t kReservedPieces = net::Stream::kBatchPieces / 4;

} // namespace

/// Data, and its digest behind it. The digest is of what the buffer holds now: it must not change on its way.
inline void Queue::append_data(const std::byte* data, std::uint32_t length) noexcept {
    stream_.append_payload(data, length);
    if (parameters_.pdu.data_digest) {
        store_digest({data, length}, stream_.append_header(kDigestSize));
    }
}

void Queue::submit(const Sqe& sqe, Transfer transfer, std::byte* data, std::uint32_t length,
                   void* owner) noexcept {
    const std::uint16_t index = free_head_;
    Slot& slot = slots_[index];
    free_head_ = slot.next;
    slot.owner = owner;
    slot.data = data;
    slot.length = length;
    slot.moved = slot.requested = 0;
    slot.batch = 0;
    slot.transfer = transfer;
    slot.open = true;
    slot.last_received = slot.answered = slot.damaged = false;
    slot.r2t_first = slot.r2ts = 0;
    ++outstanding_;
    // The receive that will get the answer is staged before the next command comes: the window must stay
    // small between one large read and the next, and widens with the first command of another kind.
    if (transfer == Transfer::to_host && length >= kDirectFrom) {
        ++large_reads_;
        stream_.set_window(small_window_);
    } else if (large_reads_ == 0) {
        stream_.set_window(net::Stream::kStagingSize);
    }

    const bool in_capsule = transfer == Transfer::to_controller && length <= parameters_.in_capsule;
    const std::size_t start = in_capsule ? capsule_data_ : capsule_head_;
    std::byte* room = stream_.append_header(start);
    auto* capsule = reinterpret_cast<CapsuleCmd*>(room);
    capsule->common = {};
    capsule->common.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
    capsule->common.flags = digest_flags(parameters_.pdu, in_capsule);
    capsule->common.hlen = sizeof(CapsuleCmd);
    capsule->sqe = sqe;
    capsule->sqe.cid = slot.cid;
    capsule->sqe.flags = kSqeFlagsSgl;
    capsule->sqe.sgl = {};
    capsule->sqe.sgl.length = length;
    if (in_capsule) {
        if (start != capsule_head_) {
            std::memset(room + capsule_head_, 0, start - capsule_head_);
        }
        const std::size_t digest = parameters_.pdu.data_digest ? kDigestSize : 0;
        capsule->common.pdo = static_cast<std::uint8_t>(start);
        capsule->common.plen = static_cast<std::uint32_t>(start + length + digest);
        capsule->sqe.sgl.identifier = kSglInCapsule;
        append_data(data, length);
        slot.requested = slot.moved = length;
        slot.batch = stream_.open_batch();
    } else {
        capsule->common.plen = static_cast<std::uint32_t>(start);
        capsule->sqe.sgl.identifier = kSglTransportDataBlock;
    }
    if (parameters_.pdu.header_digest) {
        store_digest({room, sizeof(CapsuleCmd)}, room + sizeof(CapsuleCmd));
    }
    ++statistics_.pdus_sent;
}

// ---- data that R2Ts asked for

/// Serves R2Ts in the order they came, as far as the batch has room.
void Queue::pump_h2c() noexcept {
    while (!with_h2c_.empty()) {
        const std::uint16_t index = with_h2c_.front();
        Slot& slot = slots_[index];
        if (!send_r2t(slot)) {
            break; // the rest goes with the next batch
        }
        with_h2c_.pop(slots_);
        if (slot.r2ts > 0) {
            with_h2c_.push(slots_, index);
        }
    }
    stream_.flush();
}

/// H2CData for the first R2T of `slot`; whether that is all of it.
bool Queue::send_r2t(Slot& slot) noexcept {
    const ReadyToTransfer r2t = r2t_of(slot, 0);
    const std::uint8_t flags = digest_flags(parameters_.pdu, true);
    const std::size_t digest = parameters_.pdu.data_digest ? kDigestSize : 0;
    while (slot.moved < r2t.end) {
        if (!stream_.has_room(h2c_data_ + digest + kReservedHeaders, 3 + kReservedPieces)) {
            return false;
        }
        const std::uint32_t length = std::min(r2t.end - slot.moved, parameters_.max_h2c_data);
        const bool last = slot.moved + length == r2t.end;
        std::byte* room = stream_.append_header(h2c_data_);
        std::memset(room, 0, h2c_data_);
        auto* pdu = reinterpret_cast<H2cData*>(room);
        pdu->common.type = static_cast<std::uint8_t>(PduType::h2c_data);
        pdu->common.flags = static_cast<std::uint8_t>(flags | (last ? pdu_flag::kLastPdu : 0));
        pdu->common.hlen = sizeof(H2cData);
        pdu->common.pdo = static_cast<std::uint8_t>(h2c_data_);
        pdu->common.plen = static_cast<std::uint32_t>(h2c_data_ + length + digest);
        pdu->cccid = slot.cid;
        pdu->ttag = r2t.ttag;
        pdu->datao = slot.moved;
        pdu->datal = length;
        if (parameters_.pdu.header_digest) {
            store_digest({room, sizeof(H2cData)}, room + sizeof(H2cData));
        }
        append_data(slot.data + slot.moved, length);
        slot.batch = stream_.open_batch();
        slot.moved += length;
        ++statistics_.pdus_sent;
    }
    slot.r2t_first = static_cast<std::uint8_t>((slot.r2t_first + 1U) % parameters_.pdu.max_r2t);
    --slot.r2ts;
    return true;
}

void Queue::drop_h2c(std::uint16_t index) noexcept {
    slots_[index].r2ts = 0;
    with_h2c_.remove(slots_, index);
}

void Queue::on_sent() noexcept {
    if (!with_h2c_.empty() && !stream_.closing()) {
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

} // namespace mpath::nvme
