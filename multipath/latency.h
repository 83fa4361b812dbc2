// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "multipath/io_policy.h"

namespace mpath::multipath {

/// Shares in inverse proportion to response times: the iopolicy that was proposed for the kernel as
/// "adaptive", later "latency" (linux-nvme, RFC of 2025-11 to 2026-05, not merged), as its versions of 2025
/// have it.
///
/// Reads, writes and everything else are kept apart. Of each, a path's response times are averaged over
/// windows of 15 s, and each window's mean goes into a moving average with a weight of 1/8; what took longer
/// than 1 s is left out. A path's weight is its part of 64 by 1/average, at least 1, so that a slow path is
/// looked at again with every 64th I/O or so. A path has as many credits as its weight and spends one on each
/// I/O; without any it is given new ones, and the next path in the list has its turn. Optimized and
/// non-optimized paths count alike: a non-optimized one is expected to be slower.
///
/// Kept per job, where the kernel keeps it per NUMA node or CPU. Two deviations. Until a path's first window
/// is over, its average is the mean of what has come so far, brought up to date whenever the samples have
/// doubled; in the proposal it is the first sample alone. And a path of which nothing is known yet gets every
/// turn's one I/O, where the proposal stays on it until that is answered: one slower than 1 s would keep all.
class Latency final : public IoPolicy {
public:
    explicit Latency(std::size_t paths);

    [[nodiscard]] std::size_t select(const PathView& view, Operation operation) noexcept override;
    void path_failed(std::size_t position) noexcept override;
    void path_changed() noexcept override;
    [[nodiscard]] bool hears_completions() const noexcept override { return true; }
    void completed(std::size_t position, const Request& request) noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return "latency"; }
    [[nodiscard]] std::string_view semantics() const noexcept override {
        return "linux-nvme RFC latency (2025), per job";
    }

private:
    /// What is known of one path in one direction.
    struct Standing {
        Nanoseconds window_since = 0; ///< 0: no sample has come
        Nanoseconds sum = 0;          ///< of the window's samples
        std::uint32_t samples = 0;    ///< of the window
        bool first_window = true;
        Nanoseconds average = 0; ///< 0: none yet
        std::uint32_t weight = 1;
        std::uint32_t credits = 1;

        /// Whether the average is another one now.
        bool add(Nanoseconds sample, Nanoseconds now) noexcept;
    };
    struct Direction {
        std::vector<Standing> paths; ///< by position
        std::size_t turn = 0;        ///< position that had the last I/O
        void weigh() noexcept;
    };

    [[nodiscard]] Direction& direction_of(Operation operation) noexcept;

    std::array<Direction, 3> directions_; ///< reads, writes, everything else
};

} // namespace mpath::multipath
