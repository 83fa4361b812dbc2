// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <vector>

#include "multipath/io_policy.h"

namespace mpath::multipath {

/// The path selector service-time of device mapper, st_select_path() of drivers/md/dm-ps-service-time.c, all
/// paths with the same relative throughput: the path with the fewest bytes in flight; on a tie, the one whose
/// last I/O is longest ago, which is what moving the chosen path to the end of dm's list comes to. The
/// optimized paths are dm's first priority group, the non-optimized ones its second, and one that becomes
/// usable is used at once (failback immediate).
///
/// Bytes are this job's, where dm counts all of a multipath device's. A path that comes, goes or changes its
/// state starts the order of all of them anew, where dm puts a reinstated path at the end.
class ServiceTime final : public IoPolicy {
public:
    explicit ServiceTime(std::size_t paths) : last_turn_(paths) {}

    [[nodiscard]] std::size_t select(const PathView& view, Operation operation) noexcept override;
    void path_failed(std::size_t) noexcept override {}
    void path_changed() noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return "service-time"; }
    [[nodiscard]] std::string_view semantics() const noexcept override {
        return "linux-dm service-time 0.3.0, per job";
    }

private:
    std::uint64_t turn_ = 0;
    std::vector<std::uint64_t> last_turn_; ///< of the candidate at this position; 0: it had none
};

} // namespace mpath::multipath
