// SPDX-License-Identifier: GPL-2.0-only
// What a path's life (job/association.h) needs of the protocol: to connect, and to look after what is
// connected. All of it on the keeper's thread.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "job/path_news.h"
#include "net/async.h"
#include "net/task.h"
#include "nvme/controller.h"
#include "nvme/controller_facts.h"
#include "path/state.h"

namespace mpath::job {

/// An association with the path's controller. The meanings are those of nvme::Controller.
class PathLink {
public:
    PathLink() = default;
    PathLink(const PathLink&) = delete;
    PathLink& operator=(const PathLink&) = delete;
    /// Only after end() has ended.
    virtual ~PathLink() = default;

    [[nodiscard]] virtual const nvme::ControllerFacts& facts() const noexcept = 0;
    [[nodiscard]] virtual PathState state() const noexcept = 0;
    virtual void start(nvme::ControllerListener& listener) = 0;
    virtual void refresh_state() = 0;
    virtual void fail(Error reason) noexcept = 0;
    /// In order where somebody is left to hear it, until `deadline` at most; otherwise at once.
    virtual net::Task<int> end(Nanoseconds deadline) = 0;
};

struct LinkedPath {
    std::unique_ptr<PathLink> link;
    PathConnection connection;
};

class PathConnector {
public:
    PathConnector() = default;
    PathConnector(const PathConnector&) = delete;
    PathConnector& operator=(const PathConnector&) = delete;
    virtual ~PathConnector() = default;

    /// One attempt: the controller and all its I/O queues, or nothing. It has a deadline of its own, and
    /// `cancellation`, which outlives what was connected, ends it earlier. A final error: no other attempt
    /// will go better.
    virtual net::Task<Result<LinkedPath>> connect(net::Cancellation& cancellation) = 0;
};

} // namespace mpath::job
