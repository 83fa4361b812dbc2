// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>

#include "base/clock.h"

namespace mpath::job {

/// What becomes of a path that was lost, or could not be connected; names, defaults and meanings are
/// nvme-cli's and the kernel's (nvmf_should_reconnect() and the failfast work in drivers/nvme/host).
struct LifeOptions {
    /// From the loss to the first attempt to connect again, and from a failed attempt to the next. Above 0.
    Nanoseconds reconnect_delay = 10 * kSecond;
    /// How long to try, rounded up to a multiple of reconnect_delay: that long after the loss the last
    /// attempt begins, and when it fails the path is gone. 0: no attempt; nothing: for ever.
    std::optional<Nanoseconds> ctrl_loss_tmo = 600 * kSecond;
    /// How long after the loss I/O may still wait for the path (PathLife::failing from then on), while it
    /// goes on being connected. 0: I/O never waits; nothing: as long as the path is being connected.
    std::optional<Nanoseconds> fast_io_fail_tmo;

    bool operator==(const LifeOptions&) const = default;
};

} // namespace mpath::job
