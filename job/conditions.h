// SPDX-License-Identifier: GPL-2.0-only
// Gathers under which conditions a job measures.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job/options.h"
#include "job/path_list.h"
#include "multipath/io_policy.h"
#include "path/facts.h"
#include "record/conditions.h"

namespace mpath::job {

/// Everything but the paths.
record::Conditions job_conditions(const FioJob& fio_job, const multipath::IoPolicy& policy,
                                  std::string_view host_nqn, std::string_view net_backend);
/// A path that never answered has no facts (nullptr): name and address only.
record::PathConditions path_conditions(const PathSpec& path, const PathFacts* facts);

} // namespace mpath::job
