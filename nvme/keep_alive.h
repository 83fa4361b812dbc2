// SPDX-License-Identifier: GPL-2.0-only
// Keep Alive commands at a fixed rate, and behind each a look at CSTS. One that isn't answered within the
// keep-alive timeout takes the admin queue down, which is how the loss of the association becomes known; so
// does a controller that reports a fatal error, or that is not ready any more.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "net/task.h"
#include "net/timer_queue.h"
#include "nvme/admin_queue.h"

namespace mpath::nvme {

/// How often to send: twice per timeout, or four times where the controller judges by traffic (CTRATT bit 6):
/// it then looks only once per timeout whether anything came (Linux, nvme_keep_alive_work_period()).
[[nodiscard]] Nanoseconds keep_alive_period(Nanoseconds timeout, bool traffic_based);

class KeepAlive {
public:
    /// Sends the first one a period from now.
    KeepAlive(AdminQueue& admin, Nanoseconds timeout, Nanoseconds period);
    KeepAlive(const KeepAlive&) = delete;
    KeepAlive& operator=(const KeepAlive&) = delete;
    ~KeepAlive() { stop(); }

    /// Sends no more; one may still be outstanding.
    void stop();
    [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }

private:
    void schedule(Nanoseconds at);
    void send();
    net::Task<Result<void>> beat();
    net::Task<Result<void>> look_at_status(Nanoseconds deadline);

    AdminQueue& admin_;
    Nanoseconds timeout_;
    Nanoseconds period_;
    net::TimerQueue::Id timer_;
    bool running_ = true;
    bool outstanding_ = false;
    bool tells_status_ = true; ///< answers Property Get CSTS
    std::uint64_t answered_ = 0;
};

} // namespace mpath::nvme
