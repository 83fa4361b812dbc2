// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "iscsi/chap_credentials.h"
#include "net/socket_options.h"

namespace mpath::iscsi {

/// What a path's sessions are to be like.
struct SessionOptions {
    std::string initiator_name;          ///< iscsi/name.h
    std::optional<ChapCredentials> chap; ///< absent: nobody proves anything
    std::uint16_t io_queues = 1;         ///< sessions that carry I/O
    std::uint16_t queue_size = 128;      ///< commands outstanding in each, at most
    std::uint32_t keep_alive_ms = 5000;  ///< between NOP-Outs of the control session; 0 = none
    Nanoseconds connect_timeout = 0;     ///< for all of one session's login, redirections included
    net::SocketOptions socket{};
    bool header_digest = false;            ///< CRC32C, or no session
    bool data_digest = false;              ///< likewise
    std::uint16_t max_outstanding_r2t = 4; ///< of one command; what is offered, at least 1

    bool operator==(const SessionOptions&) const = default;
};

} // namespace mpath::iscsi
