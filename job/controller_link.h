// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "job/path_link.h"
#include "net/address.h"
#include "net/reactor.h"
#include "nvme/uri.h"

namespace mpath::job {

/// A path by NVMe/TCP.
class ControllerConnector final : public PathConnector {
public:
    /// Resolves the host, which may block; never again, as others would wait with it. `reactor` outlives it.
    ControllerConnector(net::Reactor& reactor, nvme::Uri uri, const nvme::ControllerOptions& options);

    net::Task<Result<LinkedPath>> connect(net::Cancellation& cancellation) override;

private:
    net::Reactor& reactor_;
    nvme::Uri uri_;
    const nvme::ControllerOptions& options_;
    Result<std::vector<net::SocketAddress>> addresses_;
};

} // namespace mpath::job
