// SPDX-License-Identifier: GPL-2.0-only
#include "net/tcp_info.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace mpath::net {

std::optional<TcpInfo> read_tcp_info(int fd) {
    tcp_info raw{};
    socklen_t length = sizeof raw;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &raw, &length) != 0) {
        return std::nullopt;
    }
    TcpInfo info;
    info.rtt_us = raw.tcpi_rtt;
    info.rttvar_us = raw.tcpi_rttvar;
    info.retransmits = raw.tcpi_total_retrans;
    info.cwnd = raw.tcpi_snd_cwnd;
    info.unacked = raw.tcpi_unacked;
    info.notsent_bytes = raw.tcpi_notsent_bytes;
    info.rwnd_limited_us = raw.tcpi_rwnd_limited;
    info.sndbuf_limited_us = raw.tcpi_sndbuf_limited;
    info.delivery_rate = raw.tcpi_delivery_rate;
    char name[16] = {};
    length = sizeof name;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0) {
        info.congestion_control = name;
    }
    return info;
}

} // namespace mpath::net
