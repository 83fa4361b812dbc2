// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "base/result.h"
#include "path/facts.h"

namespace mpath::job {

/// The device that a job does its I/O to, whatever path comes and goes.
struct JobDevice {
    DeviceIdentity identity;
    std::uint32_t block_size = 0; ///< bytes
    std::uint64_t size = 0;       ///< bytes, when the job was set up
};

/// ENODEV when a path leads elsewhere, or to blocks of another size. That it has grown or shrunk is no reason
/// to do without it. Some paths can't say how large the device is: those that take no I/O (ALUA standby).
inline Result<void> check_leads_to(const JobDevice& device, const PathFacts& facts) {
    if (facts.identity != device.identity) {
        return failure(ENODEV, "it leads to another device now ({}, before {})", facts.identity.text(),
                       device.identity.text());
    }
    if (facts.limits.block_size != 0 && facts.limits.block_size != device.block_size) {
        return failure(ENODEV, "the device was formatted: it has blocks of {} bytes, before of {}",
                       facts.limits.block_size, device.block_size);
    }
    return {};
}

} // namespace mpath::job
