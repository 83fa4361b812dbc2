// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "job/path_link.h"
#include "net/address.h"
#include "net/reactor.h"
#include "nvme/controller.h"
#include "nvme/uri.h"

namespace mpath::job {

/// A path by NVMe/TCP.
class ControllerConnector final : public PathConnector {
public:
    /// Resolves the host, which may block; never again, as others would wait with it. `reactor` outlives it.
    ControllerConnector(net::Reactor& reactor, nvme::Uri uri, nvme::ControllerOptions options);

    net::Task<Result<LinkedPath>> connect(net::Cancellation& cancellation) override;
    net::Task<Result<std::shared_ptr<const PathFacts>>> look(net::Cancellation& cancellation) override;

private:
    net::Task<Result<std::unique_ptr<nvme::Controller>>> bring_up(net::Cancellation& cancellation);

    net::Reactor& reactor_;
    nvme::Uri uri_;
    nvme::ControllerOptions options_;
    Result<std::vector<net::SocketAddress>> addresses_;
};

} // namespace mpath::job
