// SPDX-License-Identifier: GPL-2.0-only
// Commands about the logical unit as a whole. SPC-4, SBC-3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "iscsi/wire/scsi.h"
#include "target/identity.h"
#include "target/iscsi/node.h"
#include "target/iscsi/outcome.h"

namespace mpath::target::scsi {

/// What such a command returns.
struct Built {
    Outcome outcome{};
    std::vector<std::byte> data;
};

/// A logical unit as one session sees it.
struct Unit {
    const Node& node;
    Session& session;
    Namespace* space = nullptr; ///< nullptr: there is none with this LUN
};

/// Precondition: one of command_set.h that is not about blocks.
Built execute_control(const Unit& unit, const iscsi::Cdb& cdb);

// Its parts.
Built inquiry(const Unit& unit, const iscsi::Cdb& cdb);
Built mode_sense(const Unit& unit, const iscsi::Cdb& cdb);
Built report_port_groups(const Unit& unit, const iscsi::Cdb& cdb);
Built report_opcodes(const Unit& unit, const iscsi::Cdb& cdb);

/// As many bytes as the initiator has room for.
inline Built fitted(std::vector<std::byte> data, std::size_t room) {
    data.resize(std::min(data.size(), room));
    return {.outcome = {}, .data = std::move(data)};
}

inline Built refused(const Outcome& why) {
    return {.outcome = why, .data = {}};
}

} // namespace mpath::target::scsi
