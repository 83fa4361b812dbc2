// SPDX-License-Identifier: GPL-2.0-only
// NVMe/TCP protocol data units. NVM Express TCP Transport Specification, "PDU Formats".
#pragma once

#include <array>
#include <cstdint>

#include "base/endian.h"
#include "base/layout.h"
#include "nvme/wire/command.h"

namespace mpath::nvme {

enum class PduType : std::uint8_t {
    ic_req = 0x00,
    ic_resp = 0x01,
    h2c_term_req = 0x02,
    c2h_term_req = 0x03,
    capsule_cmd = 0x04,
    capsule_resp = 0x05,
    h2c_data = 0x06,
    c2h_data = 0x07,
    r2t = 0x09,
};

namespace pdu_flag {
inline constexpr std::uint8_t kHeaderDigest = 1U << 0;
inline constexpr std::uint8_t kDataDigest = 1U << 1;
inline constexpr std::uint8_t kLastPdu = 1U << 2; ///< data PDUs
inline constexpr std::uint8_t kSuccess = 1U << 3; ///< C2HData: no CapsuleResp follows
} // namespace pdu_flag

struct CommonHeader {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::uint8_t hlen = 0; ///< bytes of the header, without the digest
    std::uint8_t pdo = 0;  ///< where the data starts, from the start of the PDU; 0 without data
    Le32 plen;             ///< bytes of the whole PDU
};
MPATH_SIZE(CommonHeader, 8);
MPATH_AT(CommonHeader, type, 0);
MPATH_AT(CommonHeader, flags, 1);
MPATH_AT(CommonHeader, hlen, 2);
MPATH_AT(CommonHeader, pdo, 3);
MPATH_AT(CommonHeader, plen, 4);

/// DGST of ICReq and ICResp.
namespace dgst {
inline constexpr std::uint8_t kHeader = 1U << 0;
inline constexpr std::uint8_t kData = 1U << 1;
} // namespace dgst

inline constexpr std::uint8_t kMaxPduDataAlignment = 31; ///< HPDA, CPDA: dwords, 0's based

struct IcReq {
    CommonHeader common;
    Le16 pfv;
    std::uint8_t hpda = 0; ///< alignment of data in C2H PDUs: dwords, 0's based
    std::uint8_t dgst = 0; ///< dgst::
    Le32 maxr2t;           ///< outstanding R2Ts per command, 0's based
    std::array<std::uint8_t, 112> reserved16{};
};
MPATH_SIZE(IcReq, 128);
MPATH_AT(IcReq, common, 0);
MPATH_AT(IcReq, pfv, 8);
MPATH_AT(IcReq, hpda, 10);
MPATH_AT(IcReq, dgst, 11);
MPATH_AT(IcReq, maxr2t, 12);
MPATH_AT(IcReq, reserved16, 16);

inline constexpr std::uint32_t kMinMaxH2cData = 4096;

struct IcResp {
    CommonHeader common;
    Le16 pfv;
    std::uint8_t cpda = 0; ///< alignment of data in H2C and command PDUs: dwords, 0's based
    std::uint8_t dgst = 0;
    Le32 maxh2cdata; ///< bytes of one H2CData PDU's data; at least kMinMaxH2cData, a multiple of 4
    std::array<std::uint8_t, 112> reserved16{};
};
MPATH_SIZE(IcResp, 128);
MPATH_AT(IcResp, common, 0);
MPATH_AT(IcResp, pfv, 8);
MPATH_AT(IcResp, cpda, 10);
MPATH_AT(IcResp, dgst, 11);
MPATH_AT(IcResp, maxh2cdata, 12);
MPATH_AT(IcResp, reserved16, 16);

/// In-capsule data, if any, starts at PDO.
struct CapsuleCmd {
    CommonHeader common;
    Sqe sqe;
};
MPATH_SIZE(CapsuleCmd, 72);
MPATH_AT(CapsuleCmd, common, 0);
MPATH_AT(CapsuleCmd, sqe, 8);

/// In-capsule data every admin and Fabrics command may carry, whatever IOCCSZ says.
inline constexpr std::uint32_t kAdminInCapsuleSize = 8192;

struct CapsuleResp {
    CommonHeader common;
    Cqe cqe;
};
MPATH_SIZE(CapsuleResp, 24);
MPATH_AT(CapsuleResp, common, 0);
MPATH_AT(CapsuleResp, cqe, 8);

struct H2cData {
    CommonHeader common;
    Le16 cccid;
    Le16 ttag;
    Le32 datao; ///< bytes from the start of the command's data
    Le32 datal;
    std::array<std::uint8_t, 4> reserved20{};
};
MPATH_SIZE(H2cData, 24);
MPATH_AT(H2cData, common, 0);
MPATH_AT(H2cData, cccid, 8);
MPATH_AT(H2cData, ttag, 10);
MPATH_AT(H2cData, datao, 12);
MPATH_AT(H2cData, datal, 16);
MPATH_AT(H2cData, reserved20, 20);

struct C2hData {
    CommonHeader common;
    Le16 cccid;
    std::array<std::uint8_t, 2> reserved10{};
    Le32 datao; ///< bytes from the start of the command's data
    Le32 datal;
    std::array<std::uint8_t, 4> reserved20{};
};
MPATH_SIZE(C2hData, 24);
MPATH_AT(C2hData, common, 0);
MPATH_AT(C2hData, cccid, 8);
MPATH_AT(C2hData, reserved10, 10);
MPATH_AT(C2hData, datao, 12);
MPATH_AT(C2hData, datal, 16);
MPATH_AT(C2hData, reserved20, 20);

struct R2t {
    CommonHeader common;
    Le16 cccid;
    Le16 ttag;
    Le32 r2to; ///< bytes from the start of the command's data
    Le32 r2tl;
    std::array<std::uint8_t, 4> reserved20{};
};
MPATH_SIZE(R2t, 24);
MPATH_AT(R2t, common, 0);
MPATH_AT(R2t, cccid, 8);
MPATH_AT(R2t, ttag, 10);
MPATH_AT(R2t, r2to, 12);
MPATH_AT(R2t, r2tl, 16);
MPATH_AT(R2t, reserved20, 20);

enum class FatalStatus : std::uint16_t {
    invalid_header_field = 1, ///< FEI: offset of the field in the PDU
    sequence_error = 2,
    header_digest_error = 3,
    data_out_of_range = 4,
    data_limit_exceeded = 5,   ///< or more R2Ts than MAXR2T allows
    unsupported_parameter = 6, ///< FEI: offset of the field in the PDU
};

/// H2CTermReq and C2HTermReq. The offending PDU's header follows, at most kMaxTermReqData bytes of it.
struct TermReq {
    CommonHeader common;
    Le16 fes; ///< FatalStatus
    Le32 fei; ///< at 10, unaligned; some older implementations had it at 12
    std::array<std::uint8_t, 10> reserved14{};
};
MPATH_SIZE(TermReq, 24);
MPATH_AT(TermReq, common, 0);
MPATH_AT(TermReq, fes, 8);
MPATH_AT(TermReq, fei, 10);
MPATH_AT(TermReq, reserved14, 14);

inline constexpr std::uint32_t kMaxTermReqData = 128;

} // namespace mpath::nvme
