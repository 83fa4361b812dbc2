// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

#include "base/result.h"

namespace mpath::nvme {

/// EINVAL with a sentence that begins with "NQN" when `nqn` can't be one. NVM Express Base Specification,
/// "NVMe Qualified Names": at most kMaxNqnLength bytes of UTF-8.
[[nodiscard]] Result<void> check_nqn(std::string_view nqn);

} // namespace mpath::nvme
