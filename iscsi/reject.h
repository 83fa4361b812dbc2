// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace mpath::iscsi {

/// What a Reject's reason says. RFC 7143, section 11.17.1.
[[nodiscard]] std::string_view reject_text(std::uint8_t reason);

} // namespace mpath::iscsi
