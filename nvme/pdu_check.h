// SPDX-License-Identifier: GPL-2.0-only
// What comes from a controller, judged PDU by PDU without regard to what came before: pure functions from
// bytes to a verdict. NVM Express TCP Transport Specification, "PDU Formats"; where it leaves room the rules
// are those of Linux (drivers/nvme/host/tcp.c) and the stricter of what peers are seen to do.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/digest.h"
#include "base/endian.h"
#include "nvme/pdu_options.h"
#include "nvme/protocol_fault.h"
#include "nvme/wire/pdu.h"

namespace mpath::nvme {

using mpath::kDigestSize;

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

/// The first four bytes of a PDU as one number, for comparing them all at once.
[[nodiscard]] constexpr std::uint32_t head_word(PduType type, std::uint8_t flags, std::uint8_t hlen,
                                                std::uint8_t pdo) noexcept {
    return std::bit_cast<std::uint32_t>(
        std::array<std::uint8_t, 4>{static_cast<std::uint8_t>(type), flags, hlen, pdo});
}

/// Whether `bytes` begin with C2HData that ends a transfer, its data right behind the header.
[[nodiscard]] inline bool is_plain_data(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < sizeof(C2hData)) {
        return false;
    }
    constexpr std::uint32_t kSuccess = head_word(PduType{0}, pdu_flag::kSuccess, 0, 0);
    constexpr std::uint32_t kHead = head_word(PduType::c2h_data, pdu_flag::kLastPdu | pdu_flag::kSuccess,
                                              sizeof(C2hData), sizeof(C2hData));
    const auto pdu = load<C2hData>(bytes);
    return (load<std::uint32_t>(bytes) | kSuccess) == kHead && pdu.datal != 0 &&
           std::uint64_t{pdu.common.plen} == sizeof(C2hData) + std::uint64_t{pdu.datal};
}

/// Whether `bytes` begin with a CapsuleResp.
[[nodiscard]] inline bool is_plain_response(std::span<const std::byte> bytes) noexcept {
    constexpr std::uint32_t kHead = head_word(PduType::capsule_resp, 0, sizeof(CapsuleResp), 0);
    return bytes.size() >= sizeof(CapsuleResp) && load<std::uint32_t>(bytes) == kHead &&
           load<CommonHeader>(bytes).plen == sizeof(CapsuleResp);
}

} // namespace mpath::nvme
