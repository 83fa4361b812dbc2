// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/command_session.h"
#include "iscsi/session_options.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/task.h"

namespace mpath::iscsi {

/// The LUNs that the target of `session` shows us, ascending: those that a path's URI can name (REPORT LUNS).
net::Task<Result<std::vector<std::uint64_t>>> report_luns(CommandSession& session, Nanoseconds deadline);

/// The same of `target` at the first of `addresses` that answers, by a session for just as long
/// as it takes to ask. `addresses` must stay until the task has ended.
net::Task<Result<std::vector<std::uint64_t>>> list_luns(net::Reactor& reactor,
                                                        std::span<const net::SocketAddress> addresses,
                                                        std::string target, SessionOptions options);

} // namespace mpath::iscsi
