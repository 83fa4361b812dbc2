// SPDX-License-Identifier: GPL-2.0-only
// From a TCP connection to a queue: ICReq/ICResp and the Fabrics Connect command. Receives exactly the bytes
// of the two answers, so that the socket can be handed to another thread's reactor afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/task.h"
#include "nvme/queue.h"

namespace mpath::nvme {

/// The host as it names itself in Connect.
struct HostIdentity {
    std::string nqn;
    std::array<std::uint8_t, 16> id{};
};

struct ConnectRequest {
    std::string subsystem_nqn;
    HostIdentity host;
    std::uint16_t queue_id = 0;
    std::uint16_t queue_size = 32;        ///< entries
    std::uint16_t controller_id = 0xffff; ///< FFFFh: dynamic, for the admin queue
    std::uint32_t keep_alive_ms = 0;      ///< admin queue only
};

struct ConnectedQueue {
    UniqueFd socket;
    QueueParameters parameters; ///< in_capsule is that of an admin queue; an I/O queue's depends on IOCCSZ
    std::uint16_t controller_id = 0;
};

/// The sentence of an error says what the peer did and what to do about it: wrong NQN, no free controller,
/// authentication or TLS demanded, not an NVMe/TCP peer.
net::Task<Result<ConnectedQueue>> connect_queue(net::Reactor& reactor,
                                                std::span<const net::SocketAddress> addresses,
                                                ConnectRequest request, Nanoseconds deadline);

} // namespace mpath::nvme
