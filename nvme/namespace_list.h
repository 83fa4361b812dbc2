// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/task.h"
#include "nvme/brief_association.h"

namespace mpath::nvme {

/// NSIDs of the namespaces that a subsystem shows this host, ascending, asked at the first of `addresses`
/// that answers. Errors as of connect_queue(); the sentence names the address. `addresses` must stay until
/// the task has ended.
net::Task<Result<std::vector<std::uint32_t>>> list_namespaces(net::Reactor& reactor,
                                                              std::span<const net::SocketAddress> addresses,
                                                              std::string subnqn, BriefOptions options);

} // namespace mpath::nvme
