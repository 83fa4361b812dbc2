// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/protocol.h"

namespace mpath::job {

using FoundFacts = Result<std::shared_ptr<const PathFacts>>;

/// Connects to every path at once, finds out what it leads to and disconnects again; one result a path, in
/// order. What was found is kept for the life of the process, so that numjobs=64 asks a target once. Fails as
/// a whole when nothing can be asked at all.
Result<std::vector<FoundFacts>> probe(const Clock& clock, const std::vector<PathUri>& paths,
                                      const ConnectOptions& options);

} // namespace mpath::job
