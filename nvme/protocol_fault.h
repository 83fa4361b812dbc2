// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvme/wire/pdu.h"

namespace mpath::nvme {

/// A peer broke the rules of the TCP transport. `name` is a short sentence part with static lifetime; `fes`
/// and `fei` go into the H2CTermReq that answers it (fei: byte offset of the field, where the standard wants
/// one).
struct ProtocolFault {
    std::string_view name;
    FatalStatus fes = FatalStatus::invalid_header_field;
    std::uint32_t fei = 0;
};

/// The `fei` that names the field at `offset` of a PDU.
constexpr std::uint32_t field(std::size_t offset) {
    return static_cast<std::uint32_t>(offset);
}

} // namespace mpath::nvme
