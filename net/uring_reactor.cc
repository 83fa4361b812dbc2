// SPDX-License-Identifier: GPL-2.0-only
#include "net/uring_reactor.h"

#include <algorithm>
#include <memory>

namespace mpath::net {
namespace {

/// A send usually completes inside the system call that submits it. Waiting for one completion more than
/// there are sends therefore means waiting for news, and saves the second call that a wait satisfied by
/// the send itself would cost. Should a send stay behind (the peer doesn't read), this bounds the wait, so
/// that what arrived meanwhile is looked at.
constexpr Nanoseconds kSendGrace = 200 * kMicrosecond;

/// A thread that never enters the kernel keeps what else is to run on its core waiting for the next tick, up
/// to 10 ms: another thread, or the kernel's own that would bring the answer.
constexpr Nanoseconds kLongestAway = 50 * kMicrosecond;

} // namespace

Result<std::unique_ptr<Reactor>> UringReactor::create(const Clock& clock, unsigned operations) {
    std::unique_ptr<UringReactor> reactor(new UringReactor(clock));
    int rc = -EINVAL;
    // Linux 6.1 runs completions only when we ask; 5.19 at least without interrupts; older ones plainly. The
    // first two raise a flag when there is something to ask for.
    for (const unsigned flags :
         {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
          IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 0U}) {
        io_uring_params params{};
        params.flags = flags | IORING_SETUP_CLAMP;
        rc = io_uring_queue_init_params(std::max(operations, 8U), &reactor->ring_, &params);
        if (rc != -EINVAL) {
            break;
        }
    }
    if (rc < 0) {
        reactor->ring_.ring_fd = -1;
        return failure(-rc,
                       "io_uring can't be set up on this host ({}): it may be switched off (sysctl "
                       "kernel.io_uring_disabled), kept from this container, or the memlock limit too low",
                       strerror(-rc));
    }
    if (auto usable = reactor->check(); !usable) {
        return tl::unexpected<Error>(usable.error());
    }
    io_uring_register_ring_fd(&reactor->ring_); // an optimisation: a kernel without it works all the same
    return std::unique_ptr<Reactor>(std::move(reactor));
}

/// A ring alone is not enough: old kernels lack what we use, others (gVisor) know a few operations only, and
/// a seccomp filter may allow setting up but not entering.
Result<void> UringReactor::check() {
    // Timeouts without an operation of their own (5.11), waiting without threads (5.7), no completion lost
    // (5.5).
    constexpr unsigned kFeatures = IORING_FEAT_EXT_ARG | IORING_FEAT_FAST_POLL | IORING_FEAT_NODROP;
    const std::unique_ptr<io_uring_probe, decltype(&io_uring_free_probe)> probe(
        io_uring_get_probe_ring(&ring_), &io_uring_free_probe);
    bool complete = probe && (ring_.features & kFeatures) == kFeatures;
    for (const int opcode : {IORING_OP_NOP, IORING_OP_CONNECT, IORING_OP_RECV, IORING_OP_RECVMSG,
                             IORING_OP_SEND, IORING_OP_SENDMSG, IORING_OP_READ, IORING_OP_ASYNC_CANCEL}) {
        complete = complete && io_uring_opcode_supported(probe.get(), opcode) != 0;
    }
    if (!complete) {
        return failure(ENOSYS,
                       "io_uring of this host lacks operations that sockets need: Linux 5.11 has them");
    }
    io_uring_prep_nop(io_uring_get_sqe(&ring_));
    io_uring_cqe* cqe = nullptr;
    int rc = io_uring_submit_and_wait(&ring_, 1);
    if (rc >= 0) {
        rc = io_uring_peek_cqe(&ring_, &cqe);
    }
    if (rc < 0) {
        return failure(-rc, "io_uring can be set up on this host, but not used ({})", strerror(-rc));
    }
    io_uring_cqe_seen(&ring_, cqe);
    return {};
}

UringReactor::~UringReactor() {
    if (ring_.ring_fd >= 0) {
        io_uring_queue_exit(&ring_);
    }
}

io_uring_sqe* UringReactor::stage(Operation* operation) noexcept {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    while (sqe == nullptr) {
        ++system_calls_;
        io_uring_submit(&ring_);
        sqe = io_uring_get_sqe(&ring_);
    }
    if (operation != nullptr) {
        operation->pending = true;
    }
    return sqe;
}

void UringReactor::connect(Operation& operation, int fd, const sockaddr* address, socklen_t length) noexcept {
    io_uring_sqe* sqe = stage(&operation);
    io_uring_prep_connect(sqe, fd, address, length);
    io_uring_sqe_set_data(sqe, &operation);
}

void UringReactor::receive(Operation& operation, int fd, msghdr* message, int flags) noexcept {
    io_uring_sqe* sqe = stage(&operation);
    if (message->msg_iovlen == 1) {
        io_uring_prep_recv(sqe, fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, flags);
    } else {
        io_uring_prep_recvmsg(sqe, fd, message, static_cast<unsigned>(flags));
    }
    io_uring_sqe_set_data(sqe, &operation);
}

void UringReactor::send(Operation& operation, int fd, msghdr* message) noexcept {
    io_uring_sqe* sqe = stage(&operation);
    constexpr int kFlags = MSG_NOSIGNAL | MSG_WAITALL;
    if (message->msg_iovlen == 1) {
        io_uring_prep_send(sqe, fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, kFlags);
    } else {
        io_uring_prep_sendmsg(sqe, fd, message, kFlags);
    }
    io_uring_sqe_set_data(sqe, &operation);
    ++sends_staged_;
}

void UringReactor::read(Operation& operation, int fd, void* buffer, std::uint32_t length) noexcept {
    io_uring_sqe* sqe = stage(&operation);
    io_uring_prep_read(sqe, fd, buffer, length, 0);
    io_uring_sqe_set_data(sqe, &operation);
}

void UringReactor::cancel(Operation& operation) noexcept {
    io_uring_sqe* sqe = stage(nullptr);
    io_uring_prep_cancel(sqe, &operation, 0);
    io_uring_sqe_set_data(sqe, nullptr);
}

void UringReactor::enter(Nanoseconds max_wait) noexcept {
    ++system_calls_;
    if (max_wait == 0) {
        io_uring_submit_and_get_events(&ring_);
    } else {
        const unsigned wait_for = 1 + sends_staged_;
        if (sends_staged_ > 0) {
            max_wait = std::min(max_wait, kSendGrace);
        }
        __kernel_timespec timeout{static_cast<long long>(max_wait / kSecond),
                                  static_cast<long long>(max_wait % kSecond)};
        io_uring_cqe* cqe = nullptr;
        io_uring_submit_and_wait_timeout(&ring_, &cqe, wait_for, &timeout, nullptr);
    }
    sends_staged_ = 0;
    note_arrival();
}

/// Whether entering the kernel would bring anything: a completion to be run, or one that the ring had no room
/// for. Where there is no such flag (before Linux 5.19), completions come without it.
bool UringReactor::kernel_has_news() const noexcept {
    constexpr unsigned kNews = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
    return (IO_URING_READ_ONCE(*ring_.sq.kflags) & kNews) != 0;
}

void UringReactor::spin(Nanoseconds max_wait) noexcept {
    Nanoseconds now = clock().now();
    const Nanoseconds until = now + max_wait;
    Nanoseconds entered = now;
    if (io_uring_sq_ready(&ring_) != 0) {
        enter(0);
    }
    while (io_uring_cq_ready(&ring_) == 0 && now < until) {
        if (kernel_has_news() || now - entered >= kLongestAway) {
            enter(0);
            entered = now;
        } else {
            __builtin_ia32_pause();
        }
        now = clock().now();
    }
    note_arrival();
}

/// Not with io_uring_peek_cqe(), which enters the kernel when there is news.
void UringReactor::dispatch() noexcept {
    while (io_uring_cq_ready(&ring_) != 0) {
        unsigned head = 0;
        io_uring_cqe* cqe = nullptr;
        io_uring_for_each_cqe(&ring_, head, cqe) {
            break;
        }
        auto* operation = static_cast<Operation*>(io_uring_cqe_get_data(cqe));
        const int result = cqe->res;
        io_uring_cqe_seen(&ring_, cqe);
        if (operation != nullptr) {
            operation->pending = false;
            operation->done(*operation, result);
        }
    }
}

void UringReactor::run(Nanoseconds max_wait) noexcept {
    const bool completions = io_uring_cq_ready(&ring_) != 0;
    const bool staged = io_uring_sq_ready(&ring_) != 0;
    max_wait = completions ? 0 : until_timer(max_wait);
    if (busy_poll() && max_wait > 0) {
        spin(max_wait);
    } else if (staged || max_wait > 0 || (!completions && kernel_has_news())) {
        enter(max_wait);
    } else {
        note_arrival();
    }
    dispatch();
    if (timers().next()) {
        timers().run_due(clock().now());
    }
}

} // namespace mpath::net
