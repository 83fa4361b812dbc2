// SPDX-License-Identifier: GPL-2.0-only
// The admin queue as something to await: one coroutine per command, each with a deadline.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/task.h"
#include "nvme/queue.h"
#include "nvme/queue_connect.h"

namespace mpath::nvme {

class AdminQueue final : private QueueClient {
public:
    /// For a command that may stay open for ever (Asynchronous Event Request).
    static constexpr Nanoseconds kNoDeadline = ~Nanoseconds{0};

    /// `on_end` is called once: when the queue ends itself, from fail() or at a deadline, before anybody else
    /// can notice what comes of that; otherwise when it has closed, with code 0 if close() did it.
    AdminQueue(net::Reactor& reactor, ConnectedQueue connected, std::function<void(const Error&)> on_end);
    /// Only after close() has ended.
    ~AdminQueue() override = default;

    /// Sends `sqe` and waits for its completion, whatever its status. `data` must stay until the task has
    /// ended. A command without an answer at `deadline` takes the whole queue down: only then is its buffer
    /// free. `name` (static) stands in the sentences.
    net::Task<Result<Completion>> execute(Sqe sqe, Transfer transfer, std::span<std::byte> data,
                                          Nanoseconds deadline, const char* name);
    /// The same, where any status but success is an error with a sentence; final, with Do Not Retry.
    net::Task<Result<Completion>> succeed(Sqe sqe, Transfer transfer, std::span<std::byte> data,
                                          Nanoseconds deadline, const char* name);

    /// Ends the connection, and every command as lost. When the task has ended no command and no callback is
    /// left, and the queue may be destroyed.
    net::Task<int> close();

    /// Ends the association for `reason`, as if it had been lost.
    void fail(Error reason) noexcept;

    [[nodiscard]] bool closing() const noexcept { return queue_.closing(); }
    [[nodiscard]] net::Reactor& reactor() const noexcept { return reactor_; }

private:
    struct Waiter;

    void on_command_done(const Completion& completion) noexcept override;
    void on_sent() noexcept override {}
    void on_queue_closed(const Error& error) noexcept override;
    void tell_end(const Error& reason) noexcept;

    net::Reactor& reactor_;
    std::function<void(const Error&)> on_end_;
    bool end_told_ = false;
    Error end_{0, {}};          ///< why the queue is closed
    std::vector<Waiter*> lost_; ///< whose commands the closing queue has given up
    net::Event<bool> closed_;
    Queue queue_;
};

} // namespace mpath::nvme
