// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>

#include "base/clock.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/status.h"
#include "target/controller.h"
#include "target/subsystem.h"

namespace mpath::target {

struct ConnectOutcome {
    nvme::Status status;
    std::uint32_t dw0 = 0;                  ///< controller ID, or where the invalid parameter is
    std::shared_ptr<Controller> controller; ///< nullptr when refused
};

/// Judges a Connect command. An admin queue (qid 0) gets a new association, an I/O queue joins the one it
/// names.
ConnectOutcome connect(Subsystem& subsystem, Listener& listener, const nvme::ConnectCommand& command,
                       const nvme::ConnectData& data, Nanoseconds now);

} // namespace mpath::target
