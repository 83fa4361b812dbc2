// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "multipath/io_policy.h"

namespace mpath::multipath {

/// nvme_queue_depth_path() of drivers/nvme/host/multipath.c: the least loaded optimized path, else the least
/// loaded non-optimized one, the first in the list on a tie. Load is this job's I/Os outstanding on the path,
/// where the kernel counts all of a controller's. Remembers nothing.
class QueueDepth final : public IoPolicy {
public:
    [[nodiscard]] std::size_t select(const PathView& view, Operation) noexcept override;
    void path_failed(std::size_t) noexcept override {}
    void path_changed() noexcept override {}
    [[nodiscard]] std::string_view name() const noexcept override { return "queue-depth"; }
    [[nodiscard]] std::string_view semantics() const noexcept override {
        return "linux-6.11 queue-depth, per job";
    }
};

} // namespace mpath::multipath
