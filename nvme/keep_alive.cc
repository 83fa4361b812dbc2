// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/keep_alive.h"

#include <algorithm>

#include "nvme/admin_command.h"
#include "nvme/wire/registers.h"

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
    net::spawn<Result<void>>(beat(), [this](const Result<void>& alive) {
        outstanding_ = false;
        if (!alive && !admin_.closing()) {
            admin_.fail(alive.error());
        }
    });
}

net::Task<Result<void>> KeepAlive::beat() {
    const Nanoseconds deadline = admin_.reactor().clock().now() + timeout_;
    Sqe sqe;
    sqe.opcode = admin_opcode::kKeepAlive;
    const Result<Completion> done = co_await admin_.succeed(sqe, Transfer::none, {}, deadline, "Keep Alive");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    ++answered_;
    if (!tells_status_) {
        co_return Result<void>{};
    }
    co_return co_await look_at_status(deadline);
}

net::Task<Result<void>> KeepAlive::look_at_status(Nanoseconds deadline) {
    const Sqe sqe = property_get(property::kCsts, PropertySize::bytes4);
    const Result<Completion> done =
        co_await admin_.execute(sqe, Transfer::none, {}, deadline, "Property Get CSTS");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    tells_status_ = done->status.ok();
    if (tells_status_ && (done->dw0 & csts::kFatal) != 0) {
        co_return failure(EIO, "the controller reports a fatal error (CSTS {:08x}h)", done->dw0);
    }
    if (tells_status_ && (done->dw0 & csts::kReady) == 0) {
        co_return failure(EIO, "the controller is not ready any more (CSTS {:08x}h)", done->dw0);
    }
    co_return Result<void>{};
}

} // namespace mpath::nvme
