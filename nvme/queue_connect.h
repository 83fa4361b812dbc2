// SPDX-License-Identifier: GPL-2.0-only
// From a TCP connection to a queue: ICReq/ICResp and the Fabrics Connect command. Receives exactly the bytes
// of the two answers, so that the socket can be handed to another thread's reactor afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/address.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/socket_options.h"
#include "net/task.h"
#include "nvme/host.h"
#include "nvme/pdu_options.h"
#include "nvme/queue.h"
#include "nvme/wire/fabrics.h"

namespace mpath::nvme {

/// Entries of the admin queue, as in the kernel (NVME_AQ_DEPTH).
inline constexpr std::uint16_t kAdminQueueSize = 32;

/// What a connection on its way to a queue waits for.
enum class ConnectState : std::uint8_t {
    tcp_connecting, ///< the TCP handshake
    initializing,   ///< ICReq sent, ICResp not yet received
    connecting,     ///< Fabrics Connect sent, its completion not yet received
    connected,      ///< a queue
};

std::string_view to_string(ConnectState state);

struct ConnectRequest {
    std::string subsystem_nqn;
    HostIdentity host;
    std::uint16_t queue_id = 0;
    std::uint16_t queue_size = 32;                    ///< entries
    std::uint16_t controller_id = kDynamicController; ///< an I/O queue names the association's
    std::uint32_t keep_alive_ms = 0;                  ///< admin queue only; 0 = no keep-alive
    net::SocketOptions socket{};
    PduOptions pdu{};
    Nanoseconds silence = 0; ///< net::limit_silence() of the connection; 0 = the kernel's way
    net::Cancellation* cancellation = nullptr; ///< who may end it early; outlives the task
};

struct ConnectedQueue {
    UniqueFd socket;
    QueueParameters parameters; ///< in_capsule is that of an admin queue; an I/O queue's depends on IOCCSZ
    std::uint16_t controller_id = 0;
    std::string address;       ///< of the peer: "127.0.0.1:4420"
    std::string local_address; ///< ours
};

/// The sentence of an error says what the peer did and what to do about it. Codes of those a caller may tell
/// apart: EBUSY the subsystem has no free controller, EACCES the host isn't let in (unknown to the subsystem,
/// or authentication or TLS demanded), ENODEV no such subsystem, EPROTO not a well-behaved NVMe/TCP peer,
/// ECANCELED. It is final as check_connect_resp() says.
/// `addresses` must stay until the task has ended.
net::Task<Result<ConnectedQueue>> connect_queue(net::Reactor& reactor,
                                                std::span<const net::SocketAddress> addresses,
                                                ConnectRequest request, Nanoseconds deadline);

} // namespace mpath::nvme
