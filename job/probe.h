// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "nvme/controller.h"
#include "nvme/uri.h"

namespace mpath::job {

/// Connects to every path at once, finds out what it leads to and disconnects again; one result a path, in
/// order. What was found is kept for the life of the process, so that numjobs=64 asks a target once. Fails as
/// a whole when nothing can be asked at all.
Result<std::vector<Result<nvme::ControllerFacts>>>
probe(const Clock& clock, const std::vector<nvme::Uri>& paths, const nvme::ControllerOptions& options);

} // namespace mpath::job
