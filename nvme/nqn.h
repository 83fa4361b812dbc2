// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace mpath::nvme {

/// NVM Express Base Specification, "NVMe Qualified Names": 223 bytes of UTF-8 at most.
inline constexpr std::size_t kMaxNqnLength = 223;

/// EINVAL with a sentence that begins with "NQN" when `nqn` can't be one.
[[nodiscard]] Result<void> check_nqn(std::string_view nqn);

} // namespace mpath::nvme
