// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "iscsi/control_session.h"
#include "iscsi/name.h"
#include "iscsi/uri.h"
#include "job/path_link.h"
#include "net/address.h"
#include "net/reactor.h"

namespace mpath::job {

/// A path by iSCSI. Its sessions keep their ISIDs from one connect() to the next: a target that has not
/// noticed a loss yet takes the new sessions for the old ones, and ends these first.
class SessionConnector final : public PathConnector {
public:
    /// Resolves the host, which may block; never again, as others would wait with it. `reactor` outlives it.
    SessionConnector(net::Reactor& reactor, iscsi::Uri uri, iscsi::SessionOptions options);

    net::Task<Result<LinkedPath>> connect(net::Cancellation& cancellation) override;
    net::Task<Result<std::shared_ptr<const PathFacts>>> look(net::Cancellation& cancellation) override;

private:
    net::Task<Result<std::unique_ptr<iscsi::ControlSession>>> bring_up(net::Cancellation& cancellation);

    net::Reactor& reactor_;
    iscsi::Uri uri_;
    iscsi::SessionOptions options_;
    iscsi::IsidBase isid_; ///< of all its sessions
    Result<std::vector<net::SocketAddress>> addresses_;
};

} // namespace mpath::job
