// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace mpath::iscsi {

/// The LUNs that REPORT LUNS lists, ascending: those of peripheral device or flat space addressing, which are
/// what a path's URI can name (SAM-5). EPROTO for no list; one that was cut short is taken as far as it came.
[[nodiscard]] Result<std::vector<std::uint64_t>> parse_lun_list(std::span<const std::byte> data);

} // namespace mpath::iscsi
