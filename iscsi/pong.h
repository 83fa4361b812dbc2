// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "iscsi/session_parameters.h"
#include "iscsi/wire/pdu.h"

namespace mpath::iscsi {

/// The answer to a NOP-In that wants one, with the session's `numbers` as they are now.
[[nodiscard]] inline NopOut pong_to(const NopIn& ping, const SessionNumbers& numbers) noexcept {
    NopOut pong;
    pong.lun = ping.lun;
    pong.task_tag = kNoTag;
    pong.target_tag = ping.target_tag;
    pong.cmd_sn = numbers.cmd_sn;
    pong.exp_stat_sn = numbers.exp_stat_sn;
    return pong;
}

} // namespace mpath::iscsi
