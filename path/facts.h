// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "path/device.h"
#include "path/state.h"

namespace mpath {

/// What was learnt while a path was connected, whatever its protocol.
struct PathFacts {
    std::string address;       ///< of the peer, numeric, as connected: "127.0.0.1:4420"
    std::string local_address; ///< ours

    DeviceModel model;
    DeviceIdentity identity;
    DeviceLimits limits;

    bool reports_state = false;             ///< the device knows of path groups (ANA, ALUA)
    std::uint32_t group = 0;                ///< ANA group, target port group; counts with reports_state
    PathState state = PathState::optimized; ///< of the group, at connect
    std::string state_name;                 ///< what the protocol calls it, where that is another word

    /// After a loss: the time until the target must have noticed it and be done with what was outstanding;
    /// 0: nothing says so.
    Nanoseconds quiet_after_loss = 0;

    std::uint16_t io_queues = 0;  ///< connections that carry I/O
    std::uint16_t queue_size = 0; ///< entries of each
};

} // namespace mpath
