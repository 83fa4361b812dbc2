// SPDX-License-Identifier: GPL-2.0-only
#include "target/pdu_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/crc32c.h"

namespace mpath::target {

using nvme::PduType;

namespace {

/// Not zero, so that a host that takes padding for data shows it.
constexpr std::array<std::byte, 128> kPadding = [] {
    std::array<std::byte, 128> bytes{};
    bytes.fill(std::byte{0xa5});
    return bytes;
}();

/// The bit to flip in a header: in a field that every type has a use for, behind the common header, so that
/// the stream of PDUs stays in step. Cqe::dw1, C2hData::datao, R2t::r2to.
constexpr std::size_t kFlippedByte = 12;

template <typename Pdu>
Pdu make(PduType type, std::uint32_t length = sizeof(Pdu)) {
    Pdu pdu;
    pdu.common.type = static_cast<std::uint8_t>(type);
    pdu.common.hlen = sizeof(Pdu);
    pdu.common.plen = length;
    return pdu;
}

/// Whether this was the one being waited for; 0: none is.
bool is_due(std::uint32_t& to_come) {
    return to_come != 0 && --to_come == 0;
}

} // namespace

template <typename Pdu>
void PduWriter::put(Pdu& pdu) {
    if (plain_) {
        queue_.append(&pdu, sizeof(pdu));
    } else {
        const bool has_data = pdu.common.pdo != 0; // PDO is behind the header's digest
        put_decorated({reinterpret_cast<std::byte*>(&pdu), sizeof(pdu)},
                      has_data ? data_digest_size() : header_digest_size());
    }
}

/// `digests`: bytes of digests that PLEN has to count and does not.
void PduWriter::put_decorated(std::span<std::byte> header, std::uint32_t digests) {
    nvme::CommonHeader common;
    std::memcpy(&common, header.data(), sizeof(common));
    const bool has_data = common.pdo != 0;
    common.flags |= static_cast<std::uint8_t>((header_digest_ ? nvme::pdu_flag::kHeaderDigest : 0) |
                                              (data_digest_ && has_data ? nvme::pdu_flag::kDataDigest : 0));
    common.plen = common.plen + digests;
    std::memcpy(header.data(), &common, sizeof(common));
    const Le32 digest(header_digest_ ? crc32c(header) : 0);
    if (is_due(flips_.header)) {
        header[kFlippedByte] ^= std::byte{1};
    }
    queue_.append(header.data(), header.size());
    std::size_t written = header.size();
    if (header_digest_) {
        queue_.append(&digest, sizeof(digest));
        written += sizeof(digest);
    }
    if (has_data) {
        queue_.append(kPadding.data(), common.pdo - written);
        flip_data_ = is_due(flips_.data);
        digest_ = kCrc32cBegin;
    }
}

void PduWriter::raw(std::span<std::byte> header, std::span<const std::byte> bytes) {
    put_decorated(header, 0);
    if (!bytes.empty()) {
        data(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    }
    if (header[offsetof(nvme::CommonHeader, pdo)] != std::byte{0}) {
        data_end();
    }
}

void PduWriter::ic_resp(const Terms& terms) {
    auto pdu = make<nvme::IcResp>(PduType::ic_resp);
    pdu.cpda = terms.cpda;
    pdu.dgst = static_cast<std::uint8_t>((terms.header_digest ? 1 : 0) | (terms.data_digest ? 2 : 0));
    pdu.maxh2cdata = terms.max_h2c_data;
    queue_.append(&pdu, sizeof(pdu));

    header_digest_ = terms.header_digest;
    data_digest_ = terms.data_digest;
    alignment_ = (terms.hpda + 1U) * 4;
    data_offset_ = static_cast<std::uint8_t>(
        least_data_offset(sizeof(nvme::C2hData) + header_digest_size(), terms.hpda));
    plain_ = !header_digest_ && !data_digest_ && data_offset_ == sizeof(nvme::C2hData) && !pads_;
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

void PduWriter::capsule_resp(const nvme::Cqe& cqe) {
    auto pdu = make<nvme::CapsuleResp>(PduType::capsule_resp);
    pdu.cqe = cqe;
    put(pdu);
}

void PduWriter::r2t(std::uint16_t cid, std::uint16_t tag, std::uint32_t offset, std::uint32_t length) {
    auto pdu = make<nvme::R2t>(PduType::r2t);
    pdu.cccid = cid;
    pdu.ttag = tag;
    pdu.r2to = offset;
    pdu.r2tl = length;
    put(pdu);
}

void PduWriter::term_req(const Fault& fault, std::span<const std::byte> offending) {
    offending = offending.first(std::min<std::size_t>(offending.size(), nvme::kMaxTermReqData));
    auto pdu = make<nvme::TermReq>(PduType::c2h_term_req,
                                   static_cast<std::uint32_t>(sizeof(nvme::TermReq) + offending.size()));
    pdu.fes = static_cast<std::uint16_t>(fault.status);
    pdu.fei = fault.information;
    queue_.append(&pdu, sizeof(pdu)); // never has digests
    queue_.append(offending.data(), offending.size());
}

std::uint32_t PduWriter::c2h_step(std::uint32_t left) {
    if (data_limit_ != 0) {
        return std::min(data_limit_, left);
    }
    if (c2h_size_ == 0) {
        return left;
    }
    return c2h_size_ == kRandomSize ? variation_->size(left) : std::min(c2h_size_, left);
}

void PduWriter::c2h_header(const ReadPiece& piece) {
    const std::uint8_t pdo = pads_ ? variation_->data_offset(data_offset_, alignment_) : data_offset_;
    auto pdu = make<nvme::C2hData>(PduType::c2h_data, pdo + piece.length);
    pdu.common.flags = piece.flags;
    pdu.common.pdo = pdo;
    pdu.cccid = piece.cid;
    pdu.datao = piece.data_offset;
    pdu.datal = piece.length;
    put(pdu);
}

void PduWriter::data(const std::byte* bytes, std::uint32_t count) {
    if (data_digest_) {
        digest_ = crc32c({bytes, count}, digest_);
    }
    if (flip_data_) {
        const std::byte wrong = *bytes ^ std::byte{1};
        queue_.append(&wrong, 1);
        flip_data_ = false;
        ++bytes;
        --count;
    }
    queue_.append(bytes, count);
}

void PduWriter::data_end() {
    if (data_digest_) {
        const Le32 digest(crc32c_end(digest_));
        queue_.append(&digest, sizeof(digest));
    }
}

void PduWriter::read_piece(const ReadPiece& piece, const Namespace& from, std::uint64_t offset) {
    c2h_header(piece);
    if (!data_digest_ && !flip_data_) {
        from.read(offset, piece.length, [this](const std::byte* bytes, std::uint32_t count) {
            queue_.append_external(bytes, count);
        });
        return;
    }
    // A write may come before the bytes have left: what is sent has to be what the digest is of.
    from.read(offset, piece.length,
              [this](const std::byte* bytes, std::uint32_t count) { data(bytes, count); });
    data_end();
}

void PduWriter::read_data(std::uint16_t cid, const Namespace& from, std::uint64_t offset,
                          std::uint32_t length, bool success) {
    for (std::uint32_t done = 0; done < length;) {
        ReadPiece piece{.cid = cid, .data_offset = done, .length = c2h_step(length - done)};
        done += piece.length;
        if (done == length) {
            piece.flags = nvme::pdu_flag::kLastPdu | (success ? nvme::pdu_flag::kSuccess : 0);
        }
        read_piece(piece, from, offset + piece.data_offset);
    }
}

void PduWriter::built_data(std::uint16_t cid, std::span<const std::byte> data_built) {
    const auto length = static_cast<std::uint32_t>(data_built.size());
    for (std::uint32_t done = 0; done < length;) {
        ReadPiece piece{.cid = cid, .data_offset = done, .length = c2h_step(length - done)};
        done += piece.length;
        piece.flags = done == length ? nvme::pdu_flag::kLastPdu : 0;
        c2h_header(piece);
        data(data_built.data() + piece.data_offset, piece.length);
        data_end();
    }
}

} // namespace mpath::target
