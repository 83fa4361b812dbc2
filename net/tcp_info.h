// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mpath::net {

/// What the kernel says about one connection (TCP_INFO, linux/tcp.h). Times in microseconds.
struct TcpInfo {
    std::uint64_t rtt_us = 0;
    std::uint64_t rttvar_us = 0;
    std::uint64_t retransmits = 0; ///< segments, since the connection was made
    std::uint64_t cwnd = 0;        ///< segments
    std::uint64_t unacked = 0;     ///< segments
    std::uint64_t notsent_bytes = 0;
    std::uint64_t rwnd_limited_us = 0;   ///< time held back by the peer's window
    std::uint64_t sndbuf_limited_us = 0; ///< time held back by our send buffer
    std::uint64_t delivery_rate = 0;     ///< bytes per second
    std::string congestion_control;
};

/// Empty when the socket is gone. Two system calls: for intervals, not for I/O.
std::optional<TcpInfo> read_tcp_info(int fd);

} // namespace mpath::net
