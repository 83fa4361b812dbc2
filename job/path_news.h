// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "path/state.h"

namespace mpath::job {

/// What the keeper has to tell the I/O thread. It writes, the I/O thread looks at `generation` once per call:
/// one load as long as there is no news.
class PathNews {
public:
    explicit PathNews(std::size_t paths) : states_(paths), lost_(paths) {}

    void set_state(std::size_t path, PathState state) noexcept {
        states_[path].store(static_cast<std::uint8_t>(state), std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
    }
    void set_lost(std::size_t path) noexcept {
        lost_[path].store(true, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
    }
    [[nodiscard]] std::uint32_t generation() const noexcept {
        return generation_.load(std::memory_order_acquire);
    }
    [[nodiscard]] PathState state(std::size_t path) const noexcept {
        return static_cast<PathState>(states_[path].load(std::memory_order_relaxed));
    }
    [[nodiscard]] bool lost(std::size_t path) const noexcept {
        return lost_[path].load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint32_t> generation_{0};
    std::vector<std::atomic<std::uint8_t>> states_;
    std::vector<std::atomic<bool>> lost_;
};

} // namespace mpath::job
