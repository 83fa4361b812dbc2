// SPDX-License-Identifier: GPL-2.0-only
// What was learnt about a target and its logical unit while a path came up.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "iscsi/features.h"
#include "iscsi/session_parameters.h"
#include "iscsi/wire/scsi.h"
#include "path/facts.h"

namespace mpath::iscsi {

/// `group` is the target port group of the port we are logged in to, which is not the portal group. A path
/// that takes no I/O just now may not know the device's limits: then limits.size is 0.
struct SessionFacts : PathFacts {
    std::string target; ///< its iSCSI name
    std::string target_alias;
    std::uint64_t lun = 0;
    std::uint16_t portal_group = 0;  ///< TargetPortalGroupTag
    std::uint16_t relative_port = 0; ///< relative target port identifier; 0: not said
    std::uint8_t tpgs = 0;           ///< of INQUIRY: 0 none, 1 implicit, 2 explicit, 3 both
    AluaState alua_state = AluaState::active_optimized;
    bool preferred = false;           ///< PREF of the group
    Nanoseconds transition_limit = 0; ///< how long the group may stay in transition
    std::uint32_t keep_alive_ms = 0;  ///< between NOP-Outs; 0 = none
    ScsiFeatures features;
    SessionParameters parameters; ///< of the control session
};

} // namespace mpath::iscsi
