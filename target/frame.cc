// SPDX-License-Identifier: GPL-2.0-only
#include "target/frame.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/crc32c.h"
#include "base/endian.h"

namespace mpath::target {

namespace {

using nvme::CommonHeader;
using nvme::FatalStatus;
using nvme::PduType;

tl::unexpected<Fault> bad_field(std::size_t offset) {
    return tl::unexpected(Fault{FatalStatus::invalid_header_field, static_cast<std::uint32_t>(offset)});
}

/// Header length of a PDU a host may send; 0 for all others.
std::uint32_t header_length(std::uint8_t type) {
    switch (static_cast<PduType>(type)) {
    case PduType::ic_req:
        return sizeof(nvme::IcReq);
    case PduType::h2c_term_req:
        return sizeof(nvme::TermReq);
    case PduType::capsule_cmd:
        return sizeof(nvme::CapsuleCmd);
    case PduType::h2c_data:
        return sizeof(nvme::H2cData);
    default:
        return 0;
    }
}

tl::expected<Frame, Fault> data_frame(const CommonHeader& header, PduType type, const FrameRules& rules) {
    const std::uint32_t plen = header.plen;
    const std::uint32_t start = header.hlen + (rules.header_digest ? kDigestSize : 0);
    const bool has_data = type == PduType::h2c_data || plen > start;
    const std::uint32_t trailer = rules.data_digest && has_data ? kDigestSize : 0;
    std::uint8_t flags = header.flags;
    if (type == PduType::h2c_data) {
        flags &= static_cast<std::uint8_t>(~nvme::pdu_flag::kLastPdu);
    }
    if (flags != (rules.header_digest ? nvme::pdu_flag::kHeaderDigest : 0) +
                     (trailer != 0 ? nvme::pdu_flag::kDataDigest : 0)) {
        return bad_field(offsetof(CommonHeader, flags));
    }
    if (plen < start) {
        return bad_field(offsetof(CommonHeader, plen));
    }
    if (!has_data) {
        return Frame{type, start, 0};
    }
    const std::uint32_t alignment = (rules.cpda + 1U) * 4;
    const std::uint32_t most = std::max(kMaxDataOffset, least_data_offset(start, rules.cpda));
    if (header.pdo < start || header.pdo > most || header.pdo % alignment != 0) {
        return bad_field(offsetof(CommonHeader, pdo));
    }
    if (plen - start <= header.pdo - start + trailer) {
        return bad_field(offsetof(CommonHeader, plen));
    }
    const std::uint32_t data = plen - header.pdo - trailer;
    if (type == PduType::h2c_data && data > rules.max_h2c_data) {
        return tl::unexpected(Fault{FatalStatus::data_limit_exceeded, 0});
    }
    if (type == PduType::capsule_cmd && data > rules.max_capsule) {
        return bad_field(offsetof(CommonHeader, plen));
    }
    return Frame{type, header.pdo, data};
}

} // namespace

tl::expected<Frame, Fault> frame_of(const CommonHeader& header, const FrameRules& rules) {
    const std::uint32_t expected_length = header_length(header.type);
    if (expected_length == 0) {
        return bad_field(offsetof(CommonHeader, type));
    }
    const auto type = static_cast<PduType>(header.type);
    if (type != PduType::h2c_term_req && rules.initialized == (type == PduType::ic_req)) {
        return tl::unexpected(Fault{FatalStatus::sequence_error, 0});
    }
    if (header.hlen != expected_length) {
        return bad_field(offsetof(CommonHeader, hlen));
    }
    const std::uint32_t plen = header.plen;
    if (plen < expected_length) {
        return bad_field(offsetof(CommonHeader, plen));
    }
    const bool is_control = type == PduType::ic_req || type == PduType::h2c_term_req;
    if (is_control && header.flags != 0) {
        return bad_field(offsetof(CommonHeader, flags));
    }
    switch (type) {
    case PduType::ic_req:
        if (plen != expected_length) {
            return bad_field(offsetof(CommonHeader, plen));
        }
        return Frame{type, plen, 0};
    case PduType::h2c_term_req:
        if (plen > expected_length + nvme::kMaxTermReqData) {
            return bad_field(offsetof(CommonHeader, plen));
        }
        return Frame{type, plen, 0};
    default:
        return data_frame(header, type, rules);
    }
}

bool header_is_intact(std::span<const std::byte> bytes, std::uint8_t hlen) {
    Le32 digest;
    std::memcpy(&digest, bytes.data() + hlen, sizeof(digest));
    return digest == crc32c(bytes.first(hlen));
}

} // namespace mpath::target
