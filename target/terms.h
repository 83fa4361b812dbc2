// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include <tl/expected.hpp>

#include "nvme/wire/pdu.h"
#include "target/frame.h"
#include "target/options.h"
#include "target/variation.h"

namespace mpath::target {

/// What the two ends of a connection settle with ICReq and ICResp.
struct Terms {
    std::uint8_t hpda = 0; ///< alignment of C2H data: dwords, 0's based; the host's wish
    std::uint8_t cpda = 0; ///< alignment of H2C data: dwords, 0's based; ours
    bool header_digest = false;
    bool data_digest = false;
    std::uint32_t max_r2t = 1;      ///< R2Ts the host takes at a time for one command
    std::uint32_t max_h2c_data = 0; ///< bytes
};

/// Or why what the host asks for is impossible. `variation`: nullptr, or picks limits where `options` say so.
tl::expected<Terms, Fault> agree(const nvme::IcReq& request, const Options& options, Variation* variation);

} // namespace mpath::target
