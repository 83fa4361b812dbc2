// SPDX-License-Identifier: GPL-2.0-only
#include "target/frame.h"

#include <cstddef>

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

/// Digests are never negotiated, so their flags are errors as well.
std::uint8_t allowed_flags(PduType type) {
    return type == PduType::h2c_data ? nvme::pdu_flag::kLastPdu : 0;
}

tl::expected<Frame, Fault> data_frame(const CommonHeader& header, PduType type, const FrameRules& rules) {
    const std::uint32_t plen = header.plen;
    const std::uint32_t alignment = (rules.cpda + 1U) * 4;
    const std::uint32_t limit = type == PduType::h2c_data ? rules.max_h2c_data : rules.max_capsule;
    if (plen == header.hlen && type == PduType::capsule_cmd) {
        return Frame{type, header.hlen, 0};
    }
    if (header.pdo < header.hlen || header.pdo > 128 || header.pdo % alignment != 0) {
        return bad_field(offsetof(CommonHeader, pdo));
    }
    if (plen <= header.pdo) {
        return bad_field(offsetof(CommonHeader, plen));
    }
    if (plen - header.pdo > limit) {
        return type == PduType::h2c_data ? tl::unexpected(Fault{FatalStatus::data_limit_exceeded, 0})
                                         : bad_field(offsetof(CommonHeader, plen));
    }
    return Frame{type, header.pdo, plen - header.pdo};
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
    if ((header.flags & ~allowed_flags(type)) != 0) {
        return bad_field(offsetof(CommonHeader, flags));
    }
    const std::uint32_t plen = header.plen;
    if (plen < expected_length) {
        return bad_field(offsetof(CommonHeader, plen));
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

tl::expected<void, Fault> check_ic_req(const nvme::IcReq& request) {
    if (request.pfv != 0) {
        return tl::unexpected(Fault{FatalStatus::unsupported_parameter, offsetof(nvme::IcReq, pfv)});
    }
    if (request.hpda > nvme::kMaxPduDataAlignment) {
        return bad_field(offsetof(nvme::IcReq, hpda));
    }
    if ((request.dgst & ~3) != 0) {
        return bad_field(offsetof(nvme::IcReq, dgst));
    }
    return {};
}

} // namespace mpath::target
