// SPDX-License-Identifier: GPL-2.0-only
// One association with a controller: the admin queue and what was learnt through it. Lives on the keeper's
// reactor; I/O queues are connected here and then handed to the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/task.h"
#include "nvme/queue.h"
#include "nvme/queue_connect.h"
#include "nvme/uri.h"
#include "path/device.h"
#include "path/state.h"

namespace mpath::nvme {

struct ControllerOptions {
    HostIdentity host;
    std::uint16_t io_queues = 1;
    std::uint16_t queue_size = 128; ///< entries per I/O queue
    std::uint32_t keep_alive_ms = 5000;
    Nanoseconds connect_timeout = 0; ///< for the whole bring-up; set by the caller
};

/// What the controller and the namespace say of themselves.
struct ControllerFacts {
    std::string address; ///< numeric, as connected
    std::string local_address;
    std::uint16_t controller_id = 0;
    std::uint32_t version = 0; ///< VS register
    DeviceModel model;
    DeviceIdentity identity;
    DeviceLimits limits;
    bool ana_reporting = false;
    std::uint32_t ana_group = 0;            ///< 0: none
    PathState state = PathState::optimized; ///< of the namespace's group at connect
    std::uint32_t anatt_seconds = 0;
    std::uint32_t in_capsule = 0; ///< bytes an I/O capsule may carry
    std::uint32_t max_h2c_data = 0;
    std::uint8_t cpda = 0;
    std::uint32_t keep_alive_ms = 0;
    std::uint16_t max_queue_entries = 0; ///< CAP.MQES plus one
    std::uint16_t io_queues_granted = 0; ///< by Set Features; at most what was asked
    bool volatile_write_cache = false;
    bool traffic_based_keep_alive = false;
    std::uint16_t nsid_anagrpid = 0;
};

} // namespace mpath::nvme
