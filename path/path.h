// SPDX-License-Identifier: GPL-2.0-only
// The contract every protocol implements: what the path set needs of one way to the device.
//
// All of it is called on the job's I/O thread. Nothing here blocks, allocates or makes a system call:
// submit() fills a send batch, flush() stages it, and the reactor's next run sends and receives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "path/connection.h"
#include "path/request.h"
#include "path/state.h"

namespace mpath {

/// What went over a path's connections since they were made.
struct PathTraffic {
    std::uint64_t commands = 0; ///< sent; an I/O may be split into several
    std::uint64_t pdus_sent = 0;
    std::uint64_t pdus_received = 0;
    std::uint64_t wire_bytes_sent = 0;
    std::uint64_t wire_bytes_received = 0;
    std::uint64_t payload_direct = 0;       ///< bytes of read data received straight into the I/O's buffer
    std::uint64_t payload_copied = 0;       ///< bytes of read data that went through a staging buffer
    std::uint64_t protocol_violations = 0;  ///< by the peer; each ended a connection
    std::uint64_t header_digest_errors = 0; ///< likewise
    std::uint64_t data_digest_errors = 0;   ///< PDUs whose data came damaged; each failed its command
};

/// Hears from a path on the I/O thread.
class PathListener {
public:
    PathListener() = default;
    PathListener(const PathListener&) = delete;
    PathListener& operator=(const PathListener&) = delete;
    virtual ~PathListener() = default;

    /// The path is not live any more. Called once, from inside the reactor's run; not when close() ended
    /// it.
    virtual void on_path_lost(std::uint16_t index, const Error& error) noexcept = 0;
};

class Path {
public:
    Path() = default;
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    virtual ~Path() = default;

    /// Uses these connections, which its protocol has made, from the reactor's next run on. Again after a
    /// loss, once the path is closed() and nothing is outstanding on it.
    virtual void attach(PathConnection& connection) = 0;

    /// Takes the I/O: fills the send batch, or parks it until one of the path's queues has room. Every
    /// request taken is pushed to the path's completion list exactly once, failed ones too.
    virtual void submit(Request& request) noexcept = 0;

    /// Stages what submit() batched, for the reactor's next run. Cheap when there is nothing.
    virtual void flush() noexcept = 0;

    /// Connected and its device ready: the kernel's controller state LIVE.
    [[nodiscard]] virtual bool live() const noexcept = 0;
    /// State of the path's group, as the I/O thread last heard it.
    [[nodiscard]] virtual PathState state() const noexcept = 0;
    virtual void set_state(PathState state) noexcept = 0;
    /// I/Os taken and not yet completed, parked ones included.
    [[nodiscard]] virtual std::uint32_t outstanding() const noexcept = 0;
    /// The lengths of these I/Os, added up.
    [[nodiscard]] virtual std::uint64_t outstanding_bytes() const noexcept = 0;

    /// Ends all connections: orderly with code 0, otherwise at once, nothing of a buffer leaving afterwards.
    /// I/Os that are still open end as path_down. Takes effect in the reactor's next runs, until closed().
    virtual void close(const Error& reason) noexcept = 0;
    [[nodiscard]] virtual bool closed() const noexcept = 0;
    [[nodiscard]] virtual PathTraffic traffic() const noexcept = 0;
    /// What a Request's protocol_status means, for sentences: "status 302h (Asymmetric Access Inaccessible)".
    [[nodiscard]] virtual std::string status_text(std::uint32_t status) const = 0;
};

} // namespace mpath
