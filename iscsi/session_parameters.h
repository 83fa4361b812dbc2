// SPDX-License-Identifier: GPL-2.0-only
// What initiator and target have agreed on at login. RFC 7143, section 13; the defaults are that section's,
// which is what holds when a key is not mentioned.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "iscsi/wire/pdu.h"

namespace mpath::iscsi {

struct SessionParameters {
    bool header_digest = false;
    bool data_digest = false;
    std::uint32_t max_send_data = 8192; ///< MaxRecvDataSegmentLength of the target: bytes of one PDU's data
    std::uint32_t max_receive_data = 8192; ///< ours, as declared
    std::uint32_t max_burst = 262144;      ///< bytes of one sequence of data PDUs
    std::uint32_t first_burst = 65536;     ///< bytes of unsolicited data, immediate data included
    std::uint16_t max_outstanding_r2t = 1; ///< of one command
    bool initial_r2t = true;               ///< no unsolicited data but immediate data
    bool immediate_data = true;
    std::uint16_t time2wait = 2;    ///< seconds to leave the target alone after a connection was lost
    std::uint16_t time2retain = 20; ///< seconds for which it keeps what was outstanding then

    bool operator==(const SessionParameters&) const = default;
};

/// Where the numbering of a session stands when its login is over.
struct SessionNumbers {
    std::uint32_t cmd_sn = 0;      ///< of the next command
    std::uint32_t exp_stat_sn = 0; ///< that the target's next answer has
    std::uint32_t max_cmd_sn = 0;  ///< the last command that the target would take now
};

/// A session in its full feature phase, with its one connection; not yet on a reactor.
struct LoggedIn {
    UniqueFd socket;
    SessionParameters parameters;
    SessionNumbers numbers;
    Isid isid{};
    std::uint16_t tsih = 0;
    std::uint16_t portal_group = 0; ///< TargetPortalGroupTag
    bool authenticated = false;     ///< we have proven who we are, by CHAP
    std::string address;            ///< of the peer: "127.0.0.1:3260"
    std::string local_address;      ///< ours
    std::string target_alias;       ///< empty: not said
};

} // namespace mpath::iscsi
