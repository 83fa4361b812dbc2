// SPDX-License-Identifier: GPL-2.0-only
// What a coroutine can wait for on a reactor. Every wait has a deadline.
#pragma once

#include <coroutine>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/address.h"
#include "net/reactor.h"
#include "net/socket_options.h"
#include "net/task.h"

namespace mpath::net {

/// Resumes a coroutine once: the one that waits, by the one that has the value.
template <typename T>
class Event {
public:
    bool await_ready() const noexcept { return value_.has_value(); }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
    T await_resume() { return std::move(*value_); }
    [[nodiscard]] bool is_set() const { return value_.has_value(); }
    /// Must be called once at most; resumes the waiter before it returns.
    void set(T value) {
        value_.emplace(std::move(value));
        if (waiter_) {
            std::exchange(waiter_, nullptr).resume();
        }
    }

private:
    std::optional<T> value_;
    std::coroutine_handle<> waiter_;
};

/// co_await sleep_until(reactor, deadline).
class SleepUntil {
public:
    SleepUntil(Reactor& reactor, Nanoseconds deadline) : reactor_(reactor), deadline_(deadline) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
        reactor_.timers().add(deadline_, [waiter] { waiter.resume(); });
    }
    void await_resume() const noexcept {}

private:
    Reactor& reactor_;
    Nanoseconds deadline_;
};

inline SleepUntil sleep_until(Reactor& reactor, Nanoseconds deadline) {
    return {reactor, deadline};
}

/// Connects to the first of `addresses` that answers, in their order; those of another family than
/// options.source are passed over. Each gets its part of the time that is left, so that one which stays
/// silent leaves some to the others. The error is that of the last one tried.
Task<Result<UniqueFd>> connect_tcp(Reactor& reactor, std::span<const SocketAddress> addresses,
                                   SocketOptions options, Nanoseconds deadline);
/// Sends all of `bytes`; 0 or a positive errno (ETIMEDOUT at the deadline).
Task<int> send_all(Reactor& reactor, int fd, std::span<const std::byte> bytes, Nanoseconds deadline);
/// Fills `bytes`; 0 or a positive errno (ECONNRESET at end of stream, ETIMEDOUT at the deadline).
Task<int> receive_all(Reactor& reactor, int fd, std::span<std::byte> bytes, Nanoseconds deadline);

/// Runs the reactor until `task` has ended, and returns its result.
template <typename T>
T run_until_done(Reactor& reactor, Task<T> task) {
    std::optional<T> result;
    spawn<T>(std::move(task), [&result](T value) { result.emplace(std::move(value)); });
    while (!result) {
        reactor.run(100 * kMillisecond);
    }
    return std::move(*result);
}

} // namespace mpath::net
