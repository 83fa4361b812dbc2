// SPDX-License-Identifier: GPL-2.0-only
// The protocols a path can speak, by its URI: all that the rest of a job need not tell apart.
#pragma once

#include <cstdint>
#include <memory>

#include "job/connect_options.h"
#include "job/path_link.h"
#include "job/path_uri.h"
#include "net/reactor.h"
#include "path/connection.h"
#include "path/path.h"

namespace mpath::job {

/// Resolves the host, which may block; never again, as others would wait with it. `reactor` outlives it.
[[nodiscard]] std::unique_ptr<PathConnector> make_connector(net::Reactor& reactor, const PathUri& uri,
                                                            const ConnectOptions& options);

/// The I/O thread's side of a path. All references outlive it; `limits` are those of the job's device.
[[nodiscard]] std::unique_ptr<Path> make_path(const PathUri& uri, std::uint16_t index,
                                              const DeviceLimits& limits, WriteOptions writes,
                                              net::Reactor& reactor, RequestList& completions,
                                              PathListener& listener);

/// Equal for equal questions: what look() would find out with these options.
[[nodiscard]] std::string look_key(const PathUri& uri, const ConnectOptions& options);

} // namespace mpath::job
