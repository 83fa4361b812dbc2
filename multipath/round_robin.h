// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "multipath/io_policy.h"

namespace mpath::multipath {

/// nvme_round_robin_path() of drivers/nvme/host/multipath.c, with one pointer per job where the kernel has
/// one per NUMA node. Among non-optimized paths it goes backwards through the list, as the kernel does.
///
/// One deviation: with a single candidate the kernel sends to it in any ANA state and lets the device bounce
/// the I/O; here a path in an unusable state is never sent to.
class RoundRobin final : public IoPolicy {
public:
    [[nodiscard]] std::size_t select(const PathView& view, Operation) noexcept override;
    void path_failed(std::size_t position) noexcept override;
    void path_changed() noexcept override { current_ = kNoPath; }
    [[nodiscard]] std::string_view name() const noexcept override { return "round-robin"; }
    [[nodiscard]] std::string_view semantics() const noexcept override {
        return "linux-6.11 round-robin, per job";
    }

private:
    std::size_t current_ = kNoPath; ///< the last choice
};

} // namespace mpath::multipath
