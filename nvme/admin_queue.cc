// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/admin_queue.h"

#include <algorithm>
#include <utility>

#include "nvme/status_text.h"

namespace mpath::nvme {

/// A command under way. Lives in the frame of the coroutine that waits for it.
struct AdminQueue::Waiter {
    net::Event<Completion> done;
};

AdminQueue::AdminQueue(net::Reactor& reactor, ConnectedQueue connected,
                       std::function<void(const Error&)> on_end)
    : reactor_(reactor), on_end_(std::move(on_end)),
      queue_(reactor, std::move(connected.socket), connected.parameters, *this) {}

net::Task<Result<Completion>> AdminQueue::execute(Sqe sqe, Transfer transfer, std::span<std::byte> data,
                                                  Nanoseconds deadline, const char* name) {
    if (queue_.closing()) {
        co_return failure(ENOTCONN, "{} can't be sent: the admin queue is closed", name);
    }
    if (queue_.full()) {
        co_return failure(EBUSY, "{} can't be sent: the admin queue is full", name);
    }
    Waiter waiter;
    net::TimerQueue::Id timer{};
    bool late = false;
    if (deadline != kNoDeadline) {
        const Nanoseconds begun = reactor_.clock().now();
        timer = reactor_.timers().add(deadline, [this, &late, name, begun, deadline] {
            late = true;
            const double waited = static_cast<double>(deadline - std::min(begun, deadline)) / kSecond;
            fail({ETIMEDOUT, fmt::format("no answer to {} within {:.1f} s", name, waited)});
        });
    }
    queue_.submit(sqe, transfer, data.data(), static_cast<std::uint32_t>(data.size()), &waiter);
    queue_.flush();
    const Completion completion = co_await waiter.done;
    if (deadline != kNoDeadline) {
        reactor_.timers().cancel(timer);
    }
    if (completion.lost && late) {
        co_return tl::unexpected<Error>(end_);
    }
    if (completion.lost) {
        co_return failure(end_.code != 0 ? end_.code : ECANCELED, "{} failed: {}", name, end_.text);
    }
    co_return completion;
}

net::Task<Result<Completion>> AdminQueue::succeed(Sqe sqe, Transfer transfer, std::span<std::byte> data,
                                                  Nanoseconds deadline, const char* name) {
    Result<Completion> completion = co_await execute(sqe, transfer, data, deadline, name);
    if (completion && !completion->status.ok()) {
        const bool fabrics = sqe.opcode == kFabricsOpcode;
        Error refusal{EIO, fmt::format("the controller refuses {} with {}", name,
                                       status_text(completion->status, fabrics))};
        refusal.final = completion->status.dnr();
        co_return tl::unexpected<Error>(std::move(refusal));
    }
    co_return completion;
}

net::Task<int> AdminQueue::close() {
    // Named, because GCC 12 without optimization destroys a braced temporary of a coroutine twice.
    Error by_us{0, "closed"};
    queue_.close(std::move(by_us), net::Stream::Ending::orderly);
    co_await closed_;
    // on_queue_closed() is still on the stack, and the stream below it: come back on a fresh one.
    co_await net::sleep_until(reactor_, reactor_.clock().now());
    co_return 0;
}

void AdminQueue::fail(Error reason) noexcept {
    if (!queue_.closing()) {
        const Error told = reason;
        queue_.close(std::move(reason), net::Stream::Ending::abort);
        tell_end(told);
    }
}

void AdminQueue::on_command_done(const Completion& completion) noexcept {
    auto* waiter = static_cast<Waiter*>(completion.owner);
    if (completion.lost) {
        lost_.push_back(waiter); // told why as soon as we know
    } else {
        waiter->done.set(completion);
    }
}

void AdminQueue::on_queue_closed(const Error& error) noexcept {
    end_ = error;
    for (Waiter* waiter : std::exchange(lost_, {})) {
        Completion completion;
        completion.lost = true;
        waiter->done.set(completion);
    }
    tell_end(error);
    closed_.set(true);
}

void AdminQueue::tell_end(const Error& reason) noexcept {
    if (!std::exchange(end_told_, true)) {
        on_end_(reason);
    }
}

} // namespace mpath::nvme
