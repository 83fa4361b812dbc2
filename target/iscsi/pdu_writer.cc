// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/pdu_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/crc32c.h"

namespace mpath::target::scsi {

namespace {

constexpr std::size_t kFlippedByte = 16; ///< the task tag's first: no command has such a tag
constexpr std::array<std::byte, 4> kPad{};

/// Counts down to the one that a bit is to be flipped in.
bool is_due(std::uint32_t& to_come) {
    return to_come != 0 && --to_come == 0;
}

std::uint32_t capped(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

struct Residual {
    std::uint8_t flag = 0; ///< residual_flag::
    std::uint32_t bytes = 0;
};

Residual residual_of(const Reply& reply) {
    if (reply.available < reply.expected) {
        return {iscsi::residual_flag::kUnderflow, capped(reply.expected - reply.available)};
    }
    return reply.available == reply.expected
               ? Residual{}
               : Residual{iscsi::residual_flag::kOverflow, capped(reply.available - reply.expected)};
}

} // namespace

void PduWriter::begin_full_feature(const Terms& terms) {
    terms_ = terms;
    plain_ = !terms.header_digest && !terms.data_digest;
}

void PduWriter::arm(const Flips& flips) {
    flips_ = flips;
    plain_ = plain_ && flips.header == 0 && flips.data == 0;
}

void PduWriter::flip_next(bool header, bool data) {
    flips_.header = header ? 1 : flips_.header;
    flips_.data = data ? 1 : flips_.data;
    plain_ = plain_ && !header && !data;
}

void PduWriter::stamp(iscsi::Bhs& header, StatSn stat_sn) {
    auto pdu = std::bit_cast<iscsi::NopIn>(header); // they all have these at the same place
    pdu.stat_sn = numbers.stat_sn;
    pdu.exp_cmd_sn = numbers.exp_cmd_sn;
    pdu.max_cmd_sn = numbers.max_cmd_sn;
    header = std::bit_cast<iscsi::Bhs>(pdu);
    numbers.stat_sn += stat_sn == StatSn::takes ? 1 : 0;
}

void PduWriter::put_header(iscsi::Bhs& header, std::uint32_t data_length) {
    header.data_length = data_length;
    if (plain_) {
        queue_.append(&header, sizeof(header));
        return;
    }
    std::array<std::byte, sizeof(header)> bytes;
    std::memcpy(bytes.data(), &header, sizeof(header));
    const Le32 digest(terms_.header_digest ? crc32c(bytes) : 0);
    if (is_due(flips_.header)) {
        bytes[kFlippedByte] ^= std::byte{0x80};
    }
    queue_.append(bytes.data(), bytes.size());
    if (terms_.header_digest) {
        queue_.append(&digest, sizeof(digest));
    }
    digest_ = kCrc32cBegin;
}

/// Bytes that may change before they leave have to be copied when something was computed of them.
void PduWriter::put_bytes(const std::byte* bytes, std::uint32_t count) {
    if (terms_.data_digest) {
        digest_ = crc32c({bytes, count}, digest_);
    }
    if (flip_data_ && count != 0) {
        const std::byte wrong = *bytes ^ std::byte{1};
        queue_.append(&wrong, 1);
        flip_data_ = false;
        ++bytes;
        --count;
    }
    queue_.append(bytes, count);
}

void PduWriter::end_data(std::uint32_t length) {
    const std::uint32_t pad = iscsi::padded(length) - length;
    if (pad != 0) {
        queue_.append(kPad.data(), pad);
    }
    if (terms_.data_digest && length != 0) {
        const Le32 digest(crc32c_end(crc32c(std::span(kPad).first(pad), digest_)));
        queue_.append(&digest, sizeof(digest));
    }
}

void PduWriter::put_copied(iscsi::Bhs& header, std::span<const std::byte> data) {
    const auto length = static_cast<std::uint32_t>(data.size());
    put_header(header, length);
    if (length != 0) {
        put_bytes(data.data(), length);
        end_data(length);
    }
}

std::uint32_t PduWriter::data_step(std::uint32_t left) {
    std::uint32_t step = std::min(left, terms_.max_send);
    if (data_limit_ != 0) {
        step = std::min(step, data_limit_);
    } else if (c2h_size_ == kRandomSize) {
        step = std::min(step, variation_->size(left));
    } else if (c2h_size_ != 0) {
        step = std::min(step, c2h_size_);
    }
    return step;
}

bool PduWriter::put_next(Reply& reply) {
    if (reply.done == reply.length) {
        response(reply);
        return true;
    }
    const std::uint32_t left = std::min(reply.length - reply.done, terms_.max_burst - reply.in_burst);
    data_in(reply, data_step(left));
    return reply.done == reply.length && reply.status_with_data;
}

void PduWriter::data_in(Reply& reply, std::uint32_t length) {
    const bool last = reply.done + length == reply.length;
    iscsi::DataIn pdu;
    pdu.task_tag = reply.tag;
    pdu.target_tag = iscsi::kNoTag;
    pdu.data_sn = reply.data_pdus++;
    pdu.offset = reply.done;
    reply.in_burst += length;
    if (last || reply.in_burst == terms_.max_burst) {
        pdu.flags = iscsi::kFinal;
        reply.in_burst = 0;
    }
    const bool with_status = last && reply.status_with_data;
    if (with_status) {
        const Residual residual = residual_of(reply);
        pdu.flags = static_cast<std::uint8_t>(pdu.flags | iscsi::data_in_flag::kStatus | residual.flag);
        pdu.status = reply.outcome.status;
        pdu.residual = residual.bytes;
    }
    auto header = std::bit_cast<iscsi::Bhs>(pdu);
    stamp(header, with_status ? StatSn::takes : StatSn::tells);
    flip_data_ = is_due(flips_.data);
    put_header(header, length);
    if (reply.space == nullptr) {
        put_bytes(reply.built + reply.done, length);
    } else if (terms_.data_digest || flip_data_) {
        reply.space->read(reply.offset + reply.done, length,
                          [this](const std::byte* bytes, std::uint32_t count) { put_bytes(bytes, count); });
    } else {
        reply.space->read(
            reply.offset + reply.done, length,
            [this](const std::byte* bytes, std::uint32_t count) { queue_.append_external(bytes, count); });
    }
    end_data(length);
    reply.done += length;
}

void PduWriter::response(const Reply& reply) {
    const Residual residual = residual_of(reply);
    iscsi::ScsiResponse pdu;
    pdu.flags = static_cast<std::uint8_t>(iscsi::kFinal | residual.flag);
    pdu.status = reply.outcome.status;
    pdu.task_tag = reply.tag;
    pdu.exp_data_sn = reply.data_pdus;
    pdu.residual = residual.bytes;
    if (!reply.outcome.has_sense()) {
        put(pdu, StatSn::takes);
        return;
    }
    struct {
        Be16 length = sizeof(iscsi::FixedSense);
        iscsi::FixedSense sense;
    } data;
    data.sense = sense_of(reply.outcome);
    put(pdu, StatSn::takes, std::as_bytes(std::span(&data, 1)));
}

} // namespace mpath::target::scsi
