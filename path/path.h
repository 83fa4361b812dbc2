// SPDX-License-Identifier: GPL-2.0-only
// The contract every protocol implements: what the path set needs of one way to the device.
//
// All of it is called on the job's I/O thread. Nothing here blocks, allocates or makes a system call:
// submit() fills a send batch, flush() stages it, and the reactor's next run sends and receives.
#pragma once

#include <cstdint>
#include <string_view>

#include "path/request.h"
#include "path/state.h"

namespace mpath {

class Path {
public:
    Path() = default;
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    virtual ~Path() = default;

    /// Takes the I/O: fills the send batch, or parks it until one of the path's queues has room. Every
    /// request taken is pushed to the path's completion list exactly once, failed ones too.
    virtual void submit(Request& request) noexcept = 0;

    /// Stages what submit() batched, for the reactor's next run. Cheap when there is nothing.
    virtual void flush() noexcept = 0;

    /// Connected and its device ready: the kernel's controller state LIVE.
    [[nodiscard]] virtual bool live() const noexcept = 0;
    /// State of the path's group, as the I/O thread last heard it.
    [[nodiscard]] virtual PathState state() const noexcept = 0;
    /// I/Os taken and not yet completed, parked ones included.
    [[nodiscard]] virtual std::uint32_t outstanding() const noexcept = 0;
};

} // namespace mpath
