// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "path/connection.h"

namespace mpath::job {

/// What the I/O thread asks of those who can mend a path. For trouble, not for the I/O path: all of it may
/// allocate, nothing of it waits.
class PathCare {
public:
    PathCare() = default;
    PathCare(const PathCare&) = delete;
    PathCare& operator=(const PathCare&) = delete;
    virtual ~PathCare() = default;

    /// The path's connections are closed or closing, for `cause`: it has to be connected again.
    virtual void report_lost(std::uint16_t path, std::string cause) = 0;
    /// The device refused an I/O for the state of the path's group: what is the state?
    virtual void refresh_state(std::uint16_t path) = 0;
    /// The path, which is closed and has nothing outstanding, is to use these connections from now on.
    virtual void reattach(std::uint16_t path, std::unique_ptr<PathConnection> connection) = 0;
};

} // namespace mpath::job
