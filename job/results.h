// SPDX-License-Identifier: GPL-2.0-only
// The numbers of the jobs that fio reports as one block, as text. In fio's parent, from the control block.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "job/job.h"

namespace mpath::job {

/// One line a call, without a line feed, at most 100 columns.
void render_table(const std::vector<const Job*>& jobs, const std::function<void(const std::string&)>& line);

/// Names of the results that fio's JSON carries among the job's options; they depend on the paths only.
std::vector<std::string> result_names(const std::vector<const Job*>& jobs);
/// Their values, in the same order; "null" where nothing was measured.
std::vector<std::string> result_values(const std::vector<const Job*>& jobs);

} // namespace mpath::job
