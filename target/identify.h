// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tl/expected.hpp>

#include "nvme/wire/command.h"
#include "nvme/wire/status.h"
#include "target/controller.h"
#include "target/subsystem.h"

namespace mpath::target {

/// The 4096 bytes an Identify command asks for, or the status it is refused with.
tl::expected<std::vector<std::byte>, nvme::Status>
identify(const Subsystem& subsystem, const Controller& controller, const nvme::Sqe& sqe);

} // namespace mpath::target
