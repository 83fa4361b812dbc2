// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "nvme/wire/status.h"
#include "path/error_class.h"

namespace mpath::nvme {

/// What a completion status says about the path it came by.
[[nodiscard]] ErrorClass classify(Status status) noexcept;

} // namespace mpath::nvme
