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

/// The part of a log page that a Get Log Page command asks for, or the status it is refused with. Reading it
/// clears its event unless the command retains that.
tl::expected<std::vector<std::byte>, nvme::Status> log_page(const Subsystem& subsystem,
                                                            Controller& controller, const nvme::Sqe& sqe);

} // namespace mpath::target
