// SPDX-License-Identifier: GPL-2.0-only
// What a session sends: commands, and their data unasked or as R2Ts ask for it.
#include <algorithm>
#include <array>
#include <cstring>

#include "iscsi/session.h"

namespace mpath::iscsi {
namespace {

/// What data for R2Ts leaves free of a batch, so that commands don't wait for megabytes to go out first.
constexpr std::size_t kReservedHeaders = net::Stream::kBatchHeaderSize / 4;
constexpr std::size_t kReservedPieces = net::Stream::kBatchPieces / 4;

/// What one data PDU takes of a batch besides its data: header, padding and two digests; in three pieces.
constexpr std::size_t kDataRoom = kBhsSize + 3 * kDigestSize;
constexpr std::size_t kDataPieces = 3;

} // namespace

/// A header that is ready but for its digest.
void Session::append_bhs(const void* bhs) noexcept {
    std::byte* room = stream_.append_header(head_size_);
    std::memcpy(room, bhs, kBhsSize);
    if (parameters_.header_digest) {
        store_digest({room, kBhsSize}, room + kBhsSize);
    }
    ++statistics_.pdus_sent;
}

/// Data, its padding and its digest, which is of what the buffer holds now: it must not change on its way.
void Session::append_segment(const std::byte* data, std::uint32_t length) noexcept {
    stream_.append_payload(data, length);
    const std::size_t padding = padded(length) - length;
    const std::size_t digest = parameters_.data_digest ? kDigestSize : 0;
    if (padding + digest == 0) {
        return;
    }
    std::byte* tail = stream_.append_header(padding + digest);
    std::memset(tail, 0, padding);
    if (digest != 0) {
        const std::uint32_t state = crc32c({data, length}, kCrc32cBegin);
        store_crc(crc32c_end(crc32c({tail, padding}, state)), tail + padding);
    }
}

/// How much of a write's data follows its command unasked, in PDUs of its own. RFC 7143, section 11.3.4: as
/// much as is allowed, or nothing; nothing where the batch has no room for all of it.
std::uint32_t Session::unsolicited(std::uint32_t length, std::uint32_t immediate) const noexcept {
    if (parameters_.initial_r2t) {
        return 0;
    }
    const std::uint32_t bytes = std::min(length, parameters_.first_burst) - immediate;
    const std::size_t pdus = (bytes + parameters_.max_send_data - 1) / parameters_.max_send_data + 1;
    return stream_.has_room(pdus * kDataRoom, pdus * kDataPieces) ? bytes : 0;
}

void Session::submit(const Cdb& cdb, const Lun& lun, Transfer transfer, std::byte* data, std::uint32_t length,
                     void* owner) noexcept {
    const std::uint16_t index = free_head_;
    Slot& slot = slots_[index];
    free_head_ = slot.next;
    slot.owner = owner;
    slot.data = data;
    slot.length = length;
    slot.moved = slot.requested = slot.data_sn = slot.next_sn = 0;
    slot.command_batch = stream_.open_batch();
    slot.batch = 0;
    slot.cmd_sn = numbers_.cmd_sn++;
    slot.lun = lun;
    slot.transfer = transfer;
    slot.open = true;
    slot.damaged = slot.answered = slot.failed = false;
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

    ScsiCommand pdu;
    pdu.task_tag = slot.tag;
    pdu.lun = lun;
    pdu.expected_length = length;
    pdu.cmd_sn = slot.cmd_sn;
    pdu.exp_stat_sn = numbers_.exp_stat_sn;
    pdu.cdb = cdb;
    if (transfer != Transfer::to_target) {
        pdu.flags = static_cast<std::uint8_t>(kFinal | command_flag::kSimple |
                                              (transfer == Transfer::to_host ? command_flag::kRead : 0));
        append_bhs(&pdu);
        return;
    }
    const std::uint32_t immediate =
        parameters_.immediate_data ? std::min({length, parameters_.first_burst, parameters_.max_send_data})
                                   : 0;
    std::uint32_t further = unsolicited(length, immediate);
    pdu.flags =
        static_cast<std::uint8_t>(command_flag::kSimple | command_flag::kWrite | (further == 0 ? kFinal : 0));
    pdu.data_length = immediate;
    append_bhs(&pdu);
    if (immediate > 0) {
        append_segment(data, immediate);
        slot.batch = stream_.open_batch();
        slot.moved = immediate;
    }
    while (further > 0) {
        const std::uint32_t bytes = std::min(further, parameters_.max_send_data);
        further -= bytes;
        append_data_out(slot, kNoTag, bytes, further == 0);
    }
    slot.requested = slot.moved;
}

/// The next `length` bytes of the slot's data.
void Session::append_data_out(Slot& slot, std::uint32_t target_tag, std::uint32_t length,
                              bool last) noexcept {
    DataOut pdu;
    pdu.flags = last ? kFinal : 0;
    pdu.data_length = length;
    pdu.task_tag = slot.tag;
    pdu.target_tag = target_tag;
    if (target_tag != kNoTag) {
        pdu.lun = slot.lun;
    }
    pdu.exp_stat_sn = numbers_.exp_stat_sn;
    pdu.data_sn = slot.data_sn++;
    pdu.offset = slot.moved;
    append_bhs(&pdu);
    append_segment(slot.data + slot.moved, length);
    slot.batch = stream_.open_batch();
    slot.moved += length;
    if (last) {
        slot.data_sn = 0;
    }
}

// ---- data that R2Ts asked for

/// Serves R2Ts in the order they came, as far as the batch has room.
void Session::pump_data() noexcept {
    while (!with_data_.empty()) {
        const std::uint16_t index = with_data_.front();
        Slot& slot = slots_[index];
        if (!send_r2t(slot)) {
            break; // the rest goes with the next batch
        }
        with_data_.pop(slots_);
        if (slot.r2ts > 0) {
            with_data_.push(slots_, index);
        }
    }
    stream_.flush();
}

/// Data-Out for the first R2T of `slot`; whether that is all of it.
bool Session::send_r2t(Slot& slot) noexcept {
    const ReadyToTransfer r2t = r2t_of(slot, 0);
    while (slot.moved < r2t.end) {
        if (!stream_.has_room(kDataRoom + kReservedHeaders, kDataPieces + kReservedPieces)) {
            return false;
        }
        const std::uint32_t length = std::min(r2t.end - slot.moved, parameters_.max_send_data);
        append_data_out(slot, r2t.tag, length, slot.moved + length == r2t.end);
    }
    slot.r2t_first = static_cast<std::uint16_t>((slot.r2t_first + 1U) % parameters_.max_outstanding_r2t);
    --slot.r2ts;
    return true;
}

void Session::drop_data(std::uint16_t index) noexcept {
    slots_[index].r2ts = 0;
    with_data_.remove(slots_, index);
}

void Session::on_sent() noexcept {
    if (!stream_.closing()) {
        if (ping_waits_) {
            answer_ping();
        }
        if (!with_data_.empty()) {
            pump_data();
        }
    }
    if (waiting_answers_ > 0) {
        for (Slot& slot : slots_) {
            if (slot.answered && slot.batch <= stream_.sent_batch()) {
                --waiting_answers_;
                finish(slot,
                       {slot.failed, slot.status, slot.residual, {slot.sense.data(), slot.sense_length}},
                       false);
            }
        }
    }
    client_.on_room();
}

} // namespace mpath::iscsi
