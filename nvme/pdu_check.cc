// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/pdu_check.h"

#include <cstddef>

namespace mpath::nvme {
namespace {

using enum FatalStatus;

constexpr ProtocolFault kUnknownType{"a PDU of unknown type", invalid_header_field,
                                     field(offsetof(CommonHeader, type))};
constexpr ProtocolFault kUnexpectedType{"a PDU that only a host sends, or only connecting allows",
                                        sequence_error, 0};
constexpr ProtocolFault kDigestNotAgreed{"a PDU with a digest that was not agreed on", invalid_header_field,
                                         field(offsetof(CommonHeader, flags))};
constexpr ProtocolFault kHeaderDigestMissing{"a PDU without the header digest that was agreed on",
                                             invalid_header_field, field(offsetof(CommonHeader, flags))};
constexpr ProtocolFault kDataDigestMissing{"C2HData without the data digest that was agreed on",
                                           invalid_header_field, field(offsetof(CommonHeader, flags))};
constexpr ProtocolFault kHeaderDigest{"a PDU whose header digest is wrong", header_digest_error, 0};
constexpr ProtocolFault kBadHlen{"a PDU with a wrong header length", invalid_header_field,
                                 field(offsetof(CommonHeader, hlen))};
constexpr ProtocolFault kBadPlen{"a PDU with an impossible length", invalid_header_field,
                                 field(offsetof(CommonHeader, plen))};
constexpr ProtocolFault kBadPdo{"a PDU whose data offset is impossible", invalid_header_field,
                                field(offsetof(CommonHeader, pdo))};
constexpr ProtocolFault kUnalignedPdo{"a PDU whose data offset is not aligned as HPDA asked",
                                      invalid_header_field, field(offsetof(CommonHeader, pdo))};
constexpr ProtocolFault kDataEmpty{"C2HData without data", invalid_header_field,
                                   field(offsetof(C2hData, datal))};
constexpr ProtocolFault kSuccessNotLast{"C2HData with SUCCESS but without LAST_PDU", invalid_header_field,
                                        field(offsetof(CommonHeader, flags))};

constexpr std::size_t kHeader = sizeof(C2hData); ///< of every PDU that a controller may send
static_assert(kHeader == sizeof(CapsuleResp) && kHeader == sizeof(R2t) && kHeader == sizeof(TermReq));

constexpr unsigned kMaxPdo = 128;

constexpr PduVerdict wrong(const ProtocolFault& fault) {
    return {&fault, 0};
}

/// The digest flags have to be just `wanted`.
PduVerdict check_digest_flags(std::uint8_t flags, std::uint8_t wanted) noexcept {
    if ((flags & ~wanted & (pdu_flag::kHeaderDigest | pdu_flag::kDataDigest)) != 0) {
        return wrong(kDigestNotAgreed);
    }
    return wrong((wanted & ~flags & pdu_flag::kHeaderDigest) != 0 ? kHeaderDigestMissing
                                                                  : kDataDigestMissing);
}

PduVerdict check_data(std::span<const std::byte> bytes, const CommonHeader& common, std::size_t header,
                      const PduOptions& agreed) noexcept {
    if (common.pdo < header || common.pdo > kMaxPdo || common.pdo % 4 != 0) {
        return wrong(kBadPdo);
    }
    if (agreed.hpda != 0 && common.pdo % alignment_bytes(agreed.hpda) != 0) {
        return wrong(kUnalignedPdo);
    }
    if (bytes.size() < header) {
        return {};
    }
    const std::uint32_t length = load<C2hData>(bytes).datal;
    if (length == 0) {
        return wrong(kDataEmpty);
    }
    const std::uint64_t digest = agreed.data_digest ? kDigestSize : 0;
    if (common.plen != std::uint64_t{common.pdo} + length + digest) {
        return wrong(kBadPlen);
    }
    if ((common.flags & (pdu_flag::kSuccess | pdu_flag::kLastPdu)) == pdu_flag::kSuccess) {
        return wrong(kSuccessNotLast);
    }
    return {nullptr, bytes.size() < common.pdo ? 0U : common.pdo};
}

/// C2HData, CapsuleResp or R2T.
PduVerdict check_transfer(std::span<const std::byte> bytes, const CommonHeader& common, bool carries_data,
                          const PduOptions& agreed) noexcept {
    const std::uint8_t wanted = digest_flags(agreed, carries_data);
    if ((common.flags & (pdu_flag::kHeaderDigest | pdu_flag::kDataDigest)) != wanted) {
        return check_digest_flags(common.flags, wanted);
    }
    std::size_t header = kHeader;
    if (agreed.header_digest) {
        header += kDigestSize;
        if (bytes.size() < header) {
            return {};
        }
        if (!digest_matches(bytes.first(kHeader), bytes.data() + kHeader)) {
            return wrong(kHeaderDigest);
        }
    }
    if (common.hlen != kHeader) {
        return wrong(kBadHlen);
    }
    if (carries_data) {
        return check_data(bytes, common, header, agreed);
    }
    if (common.plen != header) {
        return wrong(kBadPlen);
    }
    return {nullptr, bytes.size() < header ? 0U : static_cast<std::uint32_t>(header)};
}

PduVerdict check_term_req(std::span<const std::byte> bytes, const CommonHeader& common) noexcept {
    if ((common.flags & (pdu_flag::kHeaderDigest | pdu_flag::kDataDigest)) != 0) {
        return wrong(kDigestNotAgreed);
    }
    if (common.hlen != kHeader) {
        return wrong(kBadHlen);
    }
    if (common.plen < kHeader || common.plen > kHeader + kMaxTermReqData) {
        return wrong(kBadPlen);
    }
    return {nullptr, bytes.size() < kHeader ? 0U : static_cast<std::uint32_t>(kHeader)};
}

} // namespace

PduVerdict check_pdu(std::span<const std::byte> bytes, const PduOptions& agreed) noexcept {
    if (bytes.size() < sizeof(CommonHeader)) {
        return {};
    }
    const auto common = load<CommonHeader>(bytes);
    switch (static_cast<PduType>(common.type)) {
    case PduType::c2h_data:
        return check_transfer(bytes, common, true, agreed);
    case PduType::capsule_resp:
    case PduType::r2t:
        return check_transfer(bytes, common, false, agreed);
    case PduType::c2h_term_req:
        return check_term_req(bytes, common);
    case PduType::ic_req:
    case PduType::ic_resp:
    case PduType::h2c_term_req:
    case PduType::capsule_cmd:
    case PduType::h2c_data:
        return wrong(kUnexpectedType);
    }
    return wrong(kUnknownType);
}

} // namespace mpath::nvme
