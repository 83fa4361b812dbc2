// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "live/event_log.h"
#include "path/connection.h"
#include "path/state.h"

namespace mpath::job {

/// Where a path stands between its connects; what may become of I/O that has no usable path depends on it, as
/// in the kernel (nvme_available_path()).
enum class PathLife : std::uint8_t {
    live,       ///< connected
    connecting, ///< lost, and being connected again: I/O may wait for it
    failing,    ///< likewise, but fast_io_fail_tmo is over: I/O no longer waits for it
    gone,       ///< never connected, or given up: ctrl_loss_tmo is over, or the target refused for good
};

/// What the keeper has to tell the I/O thread. It writes, the I/O thread looks at `generation` once per call:
/// one load as long as there is no news.
class PathNews {
public:
    explicit PathNews(std::size_t paths) : paths_(paths) {}

    // ---- the keeper's thread

    /// The state of the path's group, as the device reported it just now; told again even if it is the same,
    /// because an I/O that was refused for it waits for that.
    void set_state(std::size_t path, PathState state) noexcept {
        paths_[path].state.store(static_cast<std::uint8_t>(state), std::memory_order_relaxed);
        paths_[path].state_reports.fetch_add(1, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
    }
    void set_life(std::size_t path, PathLife life) noexcept {
        paths_[path].life.store(static_cast<std::uint8_t>(life), std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
    }
    /// The event that the next set_state() or set_life() is about.
    void set_event(std::size_t path, live::EventLog::Handle event) noexcept {
        paths_[path].event.store(event, std::memory_order_relaxed);
    }
    /// The path is connected again: queues for the I/O thread to take. Its life becomes live.
    void hand_over(std::size_t path, std::unique_ptr<PathConnection> connection) noexcept {
        paths_[path].loss_claimed.store(false, std::memory_order_relaxed);
        delete paths_[path].connection.exchange(connection.release(), std::memory_order_acq_rel);
        paths_[path].hand_overs.fetch_add(1, std::memory_order_release);
        set_life(path, PathLife::live);
    }

    // ---- both, as either may be the first to notice that a path was lost

    /// True for the first caller since the path was connected: it is the one to write the event. Never while
    /// a newer connection waits to be taken: what was lost then is the one before.
    [[nodiscard]] bool claim_loss(std::size_t path) noexcept {
        return !connection_waits(path) &&
               !paths_[path].loss_claimed.exchange(true, std::memory_order_acq_rel);
    }

    // ---- the I/O thread

    [[nodiscard]] std::uint32_t generation() const noexcept {
        return generation_.load(std::memory_order_acquire);
    }
    [[nodiscard]] PathState state(std::size_t path) const noexcept {
        return static_cast<PathState>(paths_[path].state.load(std::memory_order_relaxed));
    }
    /// How often the state was told.
    [[nodiscard]] std::uint32_t state_reports(std::size_t path) const noexcept {
        return paths_[path].state_reports.load(std::memory_order_relaxed);
    }
    [[nodiscard]] PathLife life(std::size_t path) const noexcept {
        return static_cast<PathLife>(paths_[path].life.load(std::memory_order_relaxed));
    }
    /// The event behind the latest change of state or life, if it was the keeper that wrote it.
    [[nodiscard]] live::EventLog::Handle event(std::size_t path) const noexcept {
        return paths_[path].event.load(std::memory_order_relaxed);
    }
    /// How often the path came back.
    [[nodiscard]] std::uint32_t hand_overs(std::size_t path) const noexcept {
        return paths_[path].hand_overs.load(std::memory_order_acquire);
    }
    /// The path has come back, and its queues were not taken yet. The ones before are dead, whatever they
    /// say.
    [[nodiscard]] bool connection_waits(std::size_t path) const noexcept {
        return paths_[path].connection.load(std::memory_order_acquire) != nullptr;
    }
    /// The queues of a path that has come back; nullptr: none are waiting.
    [[nodiscard]] std::unique_ptr<PathConnection> take_connection(std::size_t path) noexcept {
        return std::unique_ptr<PathConnection>(
            paths_[path].connection.exchange(nullptr, std::memory_order_acq_rel));
    }

private:
    struct Entry {
        Entry() = default;
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry() { delete connection.load(std::memory_order_relaxed); }

        std::atomic<std::uint8_t> state{0};
        std::atomic<std::uint32_t> state_reports{0};
        std::atomic<std::uint8_t> life{static_cast<std::uint8_t>(PathLife::live)};
        std::atomic<bool> loss_claimed{false};
        std::atomic<live::EventLog::Handle> event{live::EventLog::kNoEvent};
        std::atomic<std::uint32_t> hand_overs{0};
        std::atomic<PathConnection*> connection{nullptr};
    };

    std::atomic<std::uint32_t> generation_{0};
    std::vector<Entry> paths_;
};

} // namespace mpath::job
