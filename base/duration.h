// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace mpath {

/// A number, not negative and possibly with a fraction, and one of ns, us, ms, s, m, h: "1.5s". Only 0 needs
/// no unit. EINVAL otherwise.
[[nodiscard]] Result<Nanoseconds> parse_duration(std::string_view text);

} // namespace mpath
