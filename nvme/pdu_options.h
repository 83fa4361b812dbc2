// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "nvme/wire/pdu.h"

namespace mpath::nvme {

/// R2Ts for one command that a queue can keep track of.
inline constexpr std::uint32_t kMaxR2t = 16;

/// What ICReq asks for; and, once ICResp has come, what is agreed on.
struct PduOptions {
    bool header_digest = false;
    bool data_digest = false;
    std::uint8_t hpda = 0;     ///< alignment of the controller's data: dwords, 0's based, at most 31
    std::uint32_t max_r2t = 1; ///< R2Ts the controller may have outstanding for one command: 1 to kMaxR2t

    bool operator==(const PduOptions&) const = default;
};

/// What HPDA or CPDA means.
constexpr std::uint32_t alignment_bytes(std::uint8_t dwords_0s_based) {
    return (dwords_0s_based + 1U) * 4U;
}

/// The digest flags of a PDU, with or without data, between two who have agreed.
constexpr std::uint8_t digest_flags(const PduOptions& agreed, bool with_data) {
    return static_cast<std::uint8_t>((agreed.header_digest ? pdu_flag::kHeaderDigest : 0) |
                                     (with_data && agreed.data_digest ? pdu_flag::kDataDigest : 0));
}

/// DGST of ICReq.
constexpr std::uint8_t digest_bits(const PduOptions& options) {
    return static_cast<std::uint8_t>((options.header_digest ? dgst::kHeader : 0) |
                                     (options.data_digest ? dgst::kData : 0));
}

} // namespace mpath::nvme
