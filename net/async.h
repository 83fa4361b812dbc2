// SPDX-License-Identifier: GPL-2.0-only
// What a coroutine can wait for on a reactor. Every wait has a deadline.
#pragma once

#include <coroutine>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

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
    Event() = default;
    Event(const Event&) = delete; // GCC 12 would wait on a copy of what a function returns a reference to
    Event& operator=(const Event&) = delete;
    ~Event() = default;

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

/// Lets somebody else end what a task waits for, before its deadline. Belongs to one task, which waits for
/// one thing at a time, and to its reactor's thread; outlives the task.
class Cancellation {
public:
    /// What is waited for ends, as anything that would be later, with ECANCELED.
    void request() {
        requested_ = true;
        if (hook_) {
            std::exchange(hook_, nullptr)();
        }
    }
    [[nodiscard]] bool requested() const noexcept { return requested_; }

    /// For what waits: how to end that, which happens at once where it was requested before. Lasts as long as
    /// it lives; `cancellation` may be nullptr.
    class Hook {
    public:
        Hook(Cancellation* cancellation, std::function<void()> end) : cancellation_(cancellation) {
            if (cancellation_ == nullptr) {
                return;
            }
            if (cancellation_->requested_) {
                end();
            } else {
                cancellation_->hook_ = std::move(end);
            }
        }
        Hook(const Hook&) = delete;
        Hook& operator=(const Hook&) = delete;
        ~Hook() {
            if (cancellation_ != nullptr) {
                cancellation_->hook_ = nullptr;
            }
        }

    private:
        Cancellation* cancellation_;
    };

private:
    bool requested_ = false;
    std::function<void()> hook_;
};

/// Connects to the first of `addresses` that answers, in their order; those of another family than
/// options.source are passed over. Each gets its part of the time that is left, so that one which stays
/// silent leaves some to the others. The error is that of the last one tried. `cancellation`, here and below:
/// nullptr where nobody will want to end it early.
Task<Result<UniqueFd>> connect_tcp(Reactor& reactor, std::span<const SocketAddress> addresses,
                                   SocketOptions options, Nanoseconds deadline,
                                   Cancellation* cancellation = nullptr);
/// Sends all of `bytes`; 0 or a positive errno (ETIMEDOUT at the deadline).
Task<int> send_all(Reactor& reactor, int fd, std::span<const std::byte> bytes, Nanoseconds deadline,
                   Cancellation* cancellation = nullptr);
/// Fills `bytes`; 0 or a positive errno (ECONNRESET at end of stream, ETIMEDOUT at the deadline).
Task<int> receive_all(Reactor& reactor, int fd, std::span<std::byte> bytes, Nanoseconds deadline,
                      Cancellation* cancellation = nullptr);

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
