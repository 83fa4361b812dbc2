// SPDX-License-Identifier: GPL-2.0-only
// Switching a controller on and off through its properties; the same for every type of controller. NVM
// Express Base Specification, "Controller Initialization" and "Controller Shutdown".
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "net/task.h"
#include "nvme/admin_queue.h"
#include "nvme/wire/registers.h"

namespace mpath::nvme {

enum class CommandSet : std::uint8_t {
    nvm,        ///< the controller has to have it
    admin_only, ///< a discovery controller may have no other
};

struct EnabledController {
    Capabilities capabilities;
    std::uint32_t version = 0;       ///< VS
    std::uint32_t configuration = 0; ///< CC as written
};

/// Reads the capabilities, sets CC.EN and waits for CSTS.RDY, within CAP.TO. ENOTSUP for a controller without
/// the command set. `admin` must stay until the task has ended.
net::Task<Result<EnabledController>> enable_controller(AdminQueue& admin, CommandSet command_set,
                                                       Nanoseconds deadline);

/// Asks for a normal shutdown and waits until it is complete.
net::Task<Result<void>> shut_down_controller(AdminQueue& admin, std::uint32_t configuration,
                                             Nanoseconds deadline);

} // namespace mpath::nvme
