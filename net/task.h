// SPDX-License-Identifier: GPL-2.0-only
// Coroutines for everything that is a sequence of waits and not an I/O: connecting, identifying, shutting
// down. They run on one reactor's thread, lazily: a task starts when it is awaited or spawned.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace mpath::net {

template <typename T>
class Task {
public:
    struct promise_type {
        std::optional<T> value;
        std::coroutine_handle<> continuation;

        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            struct Resume {
                bool await_ready() noexcept { return false; }
                std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
                    auto next = self.promise().continuation;
                    return next ? next : std::noop_coroutine();
                }
                void await_resume() noexcept {}
            };
            return Resume{};
        }
        void return_value(T result) { value.emplace(std::move(result)); }
        [[noreturn]] void unhandled_exception() noexcept { std::terminate(); } // errors are values here
    };

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        if (this != &other) {
            destroy();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() { destroy(); }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle_.promise().continuation = caller;
        return handle_;
    }
    T await_resume() { return std::move(*handle_.promise().value); }

private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    void destroy() {
        if (handle_) {
            handle_.destroy();
        }
    }
    std::coroutine_handle<promise_type> handle_;
};

namespace detail {

struct Detached {
    struct promise_type {
        Detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
    };
};

} // namespace detail

/// Starts `task` now; `then` gets its result when it ends, on the reactor's thread. The coroutine frees
/// itself.
template <typename T>
detail::Detached spawn(Task<T> task, std::function<void(T)> then) {
    then(co_await task);
}

} // namespace mpath::net
