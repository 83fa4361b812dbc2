// SPDX-License-Identifier: GPL-2.0-only
// What a path's life (job/association.h) needs of the protocol: to connect, and to look after what is
// connected. All of it on the keeper's thread.
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/async.h"
#include "net/task.h"
#include "path/connection.h"
#include "path/link_listener.h"
#include "path/state.h"

namespace mpath::job {

/// How long to wait for an orderly end: nothing of a job depends on it.
inline constexpr Nanoseconds kEndPatience = 3 * kSecond;

/// What looks after a path that is connected: an association's admin queue (nvme::Controller), an iSCSI
/// control session. The meanings are theirs.
class PathLink {
public:
    PathLink() = default;
    PathLink(const PathLink&) = delete;
    PathLink& operator=(const PathLink&) = delete;
    /// Only after end() has ended.
    virtual ~PathLink() = default;

    [[nodiscard]] virtual const PathFacts& facts() const noexcept = 0;
    [[nodiscard]] virtual PathState state() const noexcept = 0;
    /// What the protocol calls it, where that is another word; otherwise empty.
    [[nodiscard]] virtual std::string_view state_name() const noexcept = 0;
    virtual void start(LinkListener& listener) = 0;
    virtual void refresh_state() = 0;
    virtual void fail(Error reason) noexcept = 0;
    /// In order where somebody is left to hear it, until `deadline` at most; otherwise at once.
    virtual net::Task<int> end(Nanoseconds deadline) = 0;
};

struct LinkedPath {
    std::unique_ptr<PathLink> link;
    std::unique_ptr<PathConnection> connection;
};

class PathConnector {
public:
    PathConnector() = default;
    PathConnector(const PathConnector&) = delete;
    PathConnector& operator=(const PathConnector&) = delete;
    virtual ~PathConnector() = default;

    /// One attempt: what looks after the path and all connections that carry I/O, or nothing. It has a
    /// deadline of its own, and `cancellation`, which outlives what was connected, ends it earlier. A final
    /// error: no other attempt will go better.
    virtual net::Task<Result<LinkedPath>> connect(net::Cancellation& cancellation) = 0;
    /// Connects, finds out what is there, and disconnects again. Waits kEndPatience at most for the latter.
    virtual net::Task<Result<std::shared_ptr<const PathFacts>>> look(net::Cancellation& cancellation) = 0;
};

} // namespace mpath::job
