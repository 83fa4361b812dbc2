// SPDX-License-Identifier: GPL-2.0-only
// What a failed I/O looks like from outside: an errno for fio, a sentence for the person.
#pragma once

#include <string>

#include "multipath/path_set.h"
#include "path/error_class.h"
#include "path/request.h"

namespace mpath::multipath {

/// The positive errno that stands for an error a path reported without one; 0 for ErrorClass::none. The
/// numbers are those of the kernel's block layer (blk_errors[] in block/blk-core.c), so that a failing job
/// looks as it would on a kernel device: ENOLINK for the path, EBUSY for later, EIO for the device and where
/// no path is left.
[[nodiscard]] int errno_of(ErrorClass error) noexcept;

/// One sentence about a failed I/O: what, where, on which path, why. Formats: for the first failure of a job,
/// not for each.
[[nodiscard]] std::string describe_failure(const Request& request, const PathSet& paths);

} // namespace mpath::multipath
