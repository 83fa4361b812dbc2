// SPDX-License-Identifier: GPL-2.0-only
// What was learnt about a controller and its namespace while an association came up.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "nvme/pdu_options.h"
#include "path/facts.h"

namespace mpath::nvme {

/// The local address is that of the admin connection; queue_size is what is left of queue_size_asked after
/// max_queue_entries and max_commands, io_queues at most what was asked for; quiet_after_loss follows from
/// the keep-alive timeout and command_quiesce_time (NVM Express TP4129).
struct ControllerFacts : PathFacts {
    std::string subsystem_nqn;
    std::uint32_t nsid = 0;
    std::uint16_t controller_id = 0;
    std::uint32_t version = 0; ///< VS register

    std::uint64_t mdts = 0; ///< bytes the controller allows per command; 0 = no limit said

    std::uint32_t anatt_seconds = 0; ///< how long a group may stay in the state change

    std::uint32_t events = 0; ///< async_event bits the controller will report

    std::uint32_t in_capsule = 0;   ///< bytes of data an I/O command capsule may carry
    std::uint32_t max_h2c_data = 0; ///< bytes of one H2CData PDU
    std::uint8_t cpda = 0;          ///< alignment of our data, dwords, 0's based
    PduOptions pdu{};               ///< as agreed on

    std::uint32_t keep_alive_ms = 0;             ///< as sent in Connect; 0 = none
    std::uint32_t keep_alive_granularity_ms = 0; ///< the controller rounds up to it
    bool traffic_based_keep_alive = false;

    std::array<Nanoseconds, 3> retry_delays{}; ///< CRDT1..3, which a status refers to; 0 = not said
    Nanoseconds command_quiesce_time = 0;      ///< CQT: to be done with the commands of a lost association

    std::uint16_t max_queue_entries = 0; ///< CAP.MQES plus one
    std::uint16_t max_commands = 0;      ///< MAXCMD: outstanding per I/O queue; 0 = not said
    std::uint16_t queue_size_asked = 0;  ///< entries per I/O queue
    std::uint16_t io_queues_asked = 0;
    std::uint16_t io_queues_allowed = 0; ///< what Set Features allotted; may be more than was asked for
};

} // namespace mpath::nvme
