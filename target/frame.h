// SPDX-License-Identifier: GPL-2.0-only
// What a host may send, judged by the common header alone. Pure functions: bytes in, frame or fault out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tl/expected.hpp>

#include "nvme/wire/pdu.h"

namespace mpath::target {

/// Why a connection has to end; goes into C2HTermReq.
struct Fault {
    nvme::FatalStatus status = nvme::FatalStatus::invalid_header_field;
    std::uint32_t information = 0; ///< FEI: offset of the field in the PDU, 0 where it has no meaning

    bool operator==(const Fault&) const = default;
};

/// A PDU taken apart: `header` bytes to have before it can be handled, then `data` bytes of payload.
struct Frame {
    nvme::PduType type = nvme::PduType::ic_req;
    std::uint32_t header = 0; ///< with its digest, and the padding before the data
    std::uint32_t data = 0;   ///< without its digest
};

struct FrameRules {
    bool initialized = false;       ///< ICReq has been answered
    bool header_digest = false;     ///< as agreed on
    bool data_digest = false;       ///< as agreed on
    std::uint8_t cpda = 0;          ///< as announced
    std::uint32_t max_capsule = 0;  ///< bytes of data in the largest capsule
    std::uint32_t max_h2c_data = 0; ///< as announced
};

tl::expected<Frame, Fault> frame_of(const nvme::CommonHeader& header, const FrameRules& rules);

/// Bytes of a header or data digest.
inline constexpr std::uint32_t kDigestSize = 4;

/// PDO need never be larger, except where the alignment leaves no smaller one: 72 bytes and CPDA 16 give 136.
inline constexpr std::uint32_t kMaxDataOffset = 128;

/// The first offset behind `header` bytes (with their digest) at which data may start. `alignment`: HPDA or
/// CPDA, dwords, 0's based.
constexpr std::uint32_t least_data_offset(std::uint32_t header, std::uint8_t alignment) {
    const std::uint32_t unit = (alignment + 1U) * 4;
    return (header + unit - 1) / unit * unit;
}

/// Whether the digest behind the header is the header's. `bytes`: the PDU from its start, header and digest.
bool header_is_intact(std::span<const std::byte> bytes, std::uint8_t hlen);

} // namespace mpath::target
