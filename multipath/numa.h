// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "multipath/io_policy.h"

namespace mpath::multipath {

/// nvme_numa_path() of drivers/nvme/host/multipath.c, with one cached path per job where the kernel has one
/// per NUMA node: the nearest optimized path, kept as long as it is that; without one, searched anew for each
/// I/O.
class Numa final : public IoPolicy {
public:
    [[nodiscard]] std::size_t select(const PathView& view, Operation) noexcept override;
    void path_failed(std::size_t position) noexcept override;
    void path_changed() noexcept override { current_ = kNoPath; }
    [[nodiscard]] std::string_view name() const noexcept override { return "numa"; }
    [[nodiscard]] std::string_view semantics() const noexcept override { return "linux-6.11 numa, per job"; }

private:
    std::size_t current_ = kNoPath; ///< the path found last
};

} // namespace mpath::multipath
