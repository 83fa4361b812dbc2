// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace mpath::nvme {

/// What ICReq asks for.
struct PduOptions {
    bool header_digest = false;
    bool data_digest = false;
    std::uint8_t hpda = 0;     ///< alignment of the controller's data: dwords, 0's based, at most 31
    std::uint32_t max_r2t = 1; ///< R2Ts the controller may have outstanding for one command; at least 1

    bool operator==(const PduOptions&) const = default;
};

} // namespace mpath::nvme
