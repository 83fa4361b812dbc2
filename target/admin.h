// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "nvme/wire/command.h"
#include "nvme/wire/status.h"
#include "target/controller.h"
#include "target/subsystem.h"

namespace mpath::target {

/// What comes of a command that moves no blocks.
struct Answer {
    nvme::Status status{};
    std::uint32_t dw0 = 0;
    std::uint32_t dw1 = 0;
    std::vector<std::byte> data{}; ///< for the host, ahead of the completion
    bool later = false;            ///< no completion now: an Async Event Request waits for its event
};

/// A command of the admin queue other than the Fabrics ones.
/// Bytes of data that come with the command.
std::uint32_t admin_bytes_from_host(const nvme::Sqe& sqe);

/// `data`: as many bytes as admin_bytes_from_host() said.
Answer execute_admin(const Subsystem& subsystem, Controller& controller, const nvme::Sqe& sqe,
                     std::span<const std::byte> data, Nanoseconds now);

/// Property Get and Property Set.
Answer get_property(const Controller& controller, const nvme::Sqe& sqe);
Answer set_property(Controller& controller, const nvme::Sqe& sqe);

} // namespace mpath::target
