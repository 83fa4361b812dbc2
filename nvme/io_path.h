// SPDX-License-Identifier: GPL-2.0-only
// The path set's view of one association: I/Os as NVMe commands over the association's I/O queues.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/reactor.h"
#include "nvme/controller_facts.h"
#include "nvme/queue_connect.h"
#include "path/connection.h"
#include "path/queued_path.h"

namespace mpath::nvme {

/// The I/O queues of an association that is up.
class ConnectedPath final : public PathConnection {
public:
    ConnectedPath(ControllerFacts facts, std::vector<ConnectedQueue> connected)
        : queues(std::move(connected)), facts_(std::make_shared<const ControllerFacts>(std::move(facts))) {}

    [[nodiscard]] const std::shared_ptr<const PathFacts>& facts() const noexcept override { return facts_; }
    [[nodiscard]] const ControllerFacts& controller() const noexcept {
        return static_cast<const ControllerFacts&>(*facts_);
    }
    [[nodiscard]] std::vector<ConnectionSocket> sockets() const override;

    std::vector<ConnectedQueue> queues;

private:
    std::shared_ptr<const PathFacts> facts_;
};

class IoPath final : public QueuedPath {
public:
    /// As QueuedPath; `limits` are those of the controller. `reactor` outlives the path.
    IoPath(std::uint16_t index, std::uint32_t nsid, const DeviceLimits& limits, WriteOptions writes,
           net::Reactor& reactor, RequestList& completions, PathListener& listener);
    ~IoPath() override;

    /// A ConnectedPath.
    void attach(PathConnection& connection) override;
    [[nodiscard]] std::string status_text(std::uint32_t status) const override;

private:
    class IoQueue; // one queue, its client and the memory its commands refer to

    void set_limits(const DeviceLimits& limits) noexcept;

    std::uint32_t nsid_;
    unsigned block_shift_;
    WriteOptions writes_;
    net::Reactor& reactor_;
    std::array<Nanoseconds, 3> retry_delays_{}; ///< what the controller's CRDT1..3 stand for
};

} // namespace mpath::nvme
