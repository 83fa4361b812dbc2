// SPDX-License-Identifier: GPL-2.0-only
// The option `discover=`: more paths than paths= lists.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/connect_options.h"
#include "job/path_list.h"

namespace mpath::job {

struct DiscoveredPaths {
    std::vector<PathSpec> list; ///< the listed ones, then those that were found
    std::vector<std::string>
        notes; ///< a sentence for each port left out and each service that can't be asked

    bool operator==(const DiscoveredPaths&) const = default;
};

/// Asks every host in `listed`: its NVMe discovery service, on port 8009 and else on the path's own, or its
/// iSCSI portal by SendTargets; and adds a path for each port of the paths' targets that is not listed yet,
/// to the same namespace or LUN. They are called by their place in the list, p2, or by the next number that
/// is free. What was said is kept for the life of the process, so that numjobs=64 asks once. Fails when
/// nobody answers at all.
Result<DiscoveredPaths> discover_paths(const Clock& clock, std::vector<PathSpec> listed,
                                       const ConnectOptions& options);

} // namespace mpath::job
