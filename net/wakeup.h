// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/reactor.h"

namespace mpath::net {

/// Lets other threads run something on a reactor's thread. Not for the I/O path: it locks.
class Wakeup {
public:
    using Task = std::function<void()>;

    /// On the reactor's thread.
    static Result<std::unique_ptr<Wakeup>> create(Reactor& reactor);
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;
    ~Wakeup() = default;

    /// From any thread: `task` runs in one of the reactor's next runs.
    void post(Task task);

private:
    Wakeup(Reactor& reactor, UniqueFd fd);
    static void woken(Operation& operation, int result) noexcept;
    void wait() noexcept;

    Reactor& reactor_;
    UniqueFd fd_;
    Operation operation_;
    std::uint64_t count_ = 0;
    std::mutex mutex_;
    std::vector<Task> tasks_;
};

} // namespace mpath::net
