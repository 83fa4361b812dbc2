// SPDX-License-Identifier: GPL-2.0-only
// What comes from a controller, judged PDU by PDU without regard to what came before: pure functions from
// bytes to a verdict. NVM Express TCP Transport Specification, "PDU Formats"; where it leaves room the rules
// are those of Linux (drivers/nvme/host/tcp.c) and the stricter of what peers are seen to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/crc32c.h"
#include "base/endian.h"
#include "nvme/pdu_options.h"
#include "nvme/protocol_fault.h"
#include "nvme/wire/pdu.h"

namespace mpath::nvme {

inline constexpr std::size_t kDigestSize = 4;

/// What a header lies over; `bytes` must be at least as long.
template <typename T>
T load(std::span<const std::byte> bytes) noexcept {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// Whether the digest of `covered` is stored at `digest`.
inline bool digest_matches(std::span<const std::byte> covered, const std::byte* digest) noexcept {
    return crc32c(covered) == load<Le32>({digest, kDigestSize});
}

inline void store_digest(std::span<const std::byte> covered, std::byte* digest) noexcept {
    const Le32 value = crc32c(covered);
    std::memcpy(digest, &value, sizeof value);
}

/// Where data begins behind `header` bytes (the digest included): alignment in dwords, 0's based.
constexpr std::size_t data_start(std::size_t header, std::uint8_t alignment) noexcept {
    const std::size_t unit = alignment_bytes(alignment);
    return (header + unit - 1) / unit * unit;
}

struct PduVerdict {
    const ProtocolFault* fault = nullptr; ///< null: nothing is wrong so far. Static lifetime
    /// Bytes in front of the data, or of the whole PDU if it carries none; all of them are there, and begin
    /// with a C2hData, CapsuleResp, R2t or TermReq. 0: more bytes are needed.
    std::uint32_t head = 0;
};

/// `bytes`: the stream from the start of a PDU on, however much of it has come. A header with an agreed
/// digest is believed only once that matches; the digest of data is left to who receives the data. A
/// TermReq's head does not include the offending PDU it quotes.
[[nodiscard]] PduVerdict check_pdu(std::span<const std::byte> bytes, const PduOptions& agreed) noexcept;

// The two PDUs there are most of, told by a few comparisons. Only for connections without digests and with
// HPDA 0; check_pdu() says the same of them, and takes longer.

/// Whether `bytes` begin with C2HData that ends a transfer, its data right behind the header.
[[nodiscard]] inline bool is_plain_data(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < sizeof(C2hData)) {
        return false;
    }
    constexpr auto kType = static_cast<std::uint8_t>(PduType::c2h_data);
    constexpr std::uint8_t kEnd = pdu_flag::kLastPdu | pdu_flag::kSuccess;
    const auto pdu = load<C2hData>(bytes);
    const CommonHeader& common = pdu.common;
    return common.type == kType && (common.flags == kEnd || common.flags == pdu_flag::kLastPdu) &&
           common.hlen == sizeof(C2hData) && common.pdo == sizeof(C2hData) && pdu.datal != 0 &&
           std::uint64_t{common.plen} == sizeof(C2hData) + std::uint64_t{pdu.datal};
}

/// Whether `bytes` begin with a CapsuleResp.
[[nodiscard]] inline bool is_plain_response(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < sizeof(CapsuleResp)) {
        return false;
    }
    constexpr auto kType = static_cast<std::uint8_t>(PduType::capsule_resp);
    const auto common = load<CommonHeader>(bytes);
    return common.type == kType && common.flags == 0 && common.hlen == sizeof(CapsuleResp) &&
           common.plen == sizeof(CapsuleResp);
}

} // namespace mpath::nvme
