// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/keep_alive.h"

#include <algorithm>

namespace mpath::nvme {

Nanoseconds keep_alive_period(Nanoseconds timeout, bool traffic_based) {
    return timeout / (traffic_based ? 4 : 2);
}

KeepAlive::KeepAlive(AdminQueue& admin, Nanoseconds timeout, Nanoseconds period)
    : admin_(admin), timeout_(timeout), period_(period) {
    schedule(admin_.reactor().clock().now() + period_);
}

void KeepAlive::stop() {
    if (running_) {
        running_ = false;
        admin_.reactor().timers().cancel(timer_);
    }
}

void KeepAlive::schedule(Nanoseconds at) {
    timer_ = admin_.reactor().timers().add(at, [this, at] {
        // Counted from when it was due, so that a late run delays one and not all that follow.
        schedule(std::max(at + period_, admin_.reactor().clock().now()));
        send();
    });
}

void KeepAlive::send() {
    if (outstanding_ || admin_.closing()) {
        return;
    }
    outstanding_ = true;
    Sqe sqe;
    sqe.opcode = admin_opcode::kKeepAlive;
    const Nanoseconds deadline = admin_.reactor().clock().now() + timeout_;
    net::spawn<Result<Completion>>(admin_.succeed(sqe, Transfer::none, {}, deadline, "Keep Alive"),
                                   [this](const Result<Completion>& result) { done(result); });
}

void KeepAlive::done(const Result<Completion>& result) {
    outstanding_ = false;
    if (result) {
        ++answered_;
    } else if (!admin_.closing()) {
        admin_.fail(result.error());
    }
}

} // namespace mpath::nvme
