// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "path/facts.h"

namespace mpath {

/// How a job's writes are done.
struct WriteOptions {
    bool force_unit_access = false; ///< a write ends when it has reached the medium
    bool zeroes = false;            ///< commands that write zeroes: what fio has in its buffers is not sent
};

/// A TCP connection that carries a path's I/O.
struct ConnectionSocket {
    std::uint16_t number = 0; ///< among the path's, from 1
    int fd = -1;              ///< not owned
};

/// Connections that a path's protocol has made, on their way to the Path that will use them.
class PathConnection {
public:
    PathConnection() = default;
    PathConnection(const PathConnection&) = delete;
    PathConnection& operator=(const PathConnection&) = delete;
    virtual ~PathConnection() = default;

    /// What the path was found to be; of the protocol's own type.
    [[nodiscard]] virtual const std::shared_ptr<const PathFacts>& facts() const noexcept = 0;
    [[nodiscard]] virtual std::vector<ConnectionSocket> sockets() const = 0;
};

} // namespace mpath
