// SPDX-License-Identifier: GPL-2.0-only
// The path set's view of a target's logical unit: I/Os as SCSI commands over a path's sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iscsi/session_facts.h"
#include "iscsi/session_parameters.h"
#include "net/reactor.h"
#include "path/connection.h"
#include "path/queued_path.h"

namespace mpath::iscsi {

/// The sessions of a path that is up.
class ConnectedPath final : public PathConnection {
public:
    ConnectedPath(SessionFacts facts, std::vector<LoggedIn> connected)
        : sessions(std::move(connected)), facts_(std::make_shared<const SessionFacts>(std::move(facts))) {}

    [[nodiscard]] const std::shared_ptr<const PathFacts>& facts() const noexcept override { return facts_; }
    [[nodiscard]] const SessionFacts& session() const noexcept {
        return static_cast<const SessionFacts&>(*facts_);
    }
    [[nodiscard]] std::vector<ConnectionSocket> sockets() const override;

    std::vector<LoggedIn> sessions;

private:
    std::shared_ptr<const PathFacts> facts_;
};

class IoPath final : public QueuedPath {
public:
    /// As QueuedPath; `limits` are those of the device. `reactor` outlives the path.
    IoPath(std::uint16_t index, std::uint64_t lun, const DeviceLimits& limits, WriteOptions writes,
           net::Reactor& reactor, RequestList& completions, PathListener& listener);
    ~IoPath() override;

    /// A ConnectedPath. A path that does not know the device's limits (standby) goes by those it had.
    void attach(PathConnection& connection) override;
    [[nodiscard]] std::string status_text(std::uint32_t status) const override;

private:
    class IoSession; // one session, its client and the memory its commands refer to

    void set_limits(const DeviceLimits& limits) noexcept;
    /// The target has asked a session to log out: the path takes no further command, and goes, with all its
    /// sessions, when the last is answered.
    void leave_when_idle() noexcept;

    Lun lun_;
    unsigned block_shift_;
    WriteOptions writes_;
    ScsiFeatures features_;
    net::Reactor& reactor_;
    std::vector<IoSession*> sessions_; ///< QueuedPath has them
    bool leaving_ = false;
    std::vector<std::byte> zeroes_; ///< a block of them, for WRITE SAME
};

} // namespace mpath::iscsi
