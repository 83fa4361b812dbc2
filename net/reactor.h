// SPDX-License-Identifier: GPL-2.0-only
// Where one thread sends, receives and waits. Operations are staged and leave together with the next run():
// that is what makes a batch one system call.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/timer_queue.h"

namespace mpath::net {

/// One socket operation under way. Owned by who stages it; neither it nor the buffers it names may move or
/// go before `done` was called, nor may its descriptor be closed. It is called exactly once per staging, from
/// Reactor::run(), and may stage and cancel, but not call run() again.
struct Operation {
    using Done = void (*)(Operation& operation, int result) noexcept;

    Done done = nullptr;   ///< result: bytes or 0, or a negative errno
    void* owner = nullptr; ///< for `done`
    bool pending = false;  ///< set by the reactor between staging and `done`
    /// A backend's own: how well it went lately to try this operation without asking whether it can be done.
    std::uint8_t luck = 0;
};

class Reactor {
public:
    explicit Reactor(const Clock& clock) : clock_(clock) {}
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;
    virtual ~Reactor() = default;

    virtual void connect(Operation& operation, int fd, const sockaddr* address,
                         socklen_t length) noexcept = 0;
    /// `message` and its iovecs must stay until done. MSG_WAITALL is honoured: then fewer bytes than asked
    /// for mean end of stream or an error, which the next receive tells; or that io_uring has waited 128
    /// times (APOLL_MAX_RETRY) and gives what came so far.
    virtual void receive(Operation& operation, int fd, msghdr* message, int flags) noexcept = 0;
    /// Sends the whole message unless an error comes between, which the next send tells, or io_uring has
    /// waited 128 times for room: result is how much has left.
    virtual void send(Operation& operation, int fd, msghdr* message) noexcept = 0;
    virtual void read(Operation& operation, int fd, void* buffer, std::uint32_t length) noexcept = 0;
    /// Asks for an early end: `done` is still called, with -ECANCELED or with what had happened before.
    virtual void cancel(Operation& operation) noexcept = 0;

    /// Sends what is staged, waits until something completed, a timer is due or `max_wait` has passed (0:
    /// does not wait), and calls what completed. io_uring: one system call at most; none when nothing is
    /// staged and completions are there already. poll: one for each operation that it tries, and one to wait.
    virtual void run(Nanoseconds max_wait) noexcept = 0;

    /// From now on run() spins instead of sleeping: answers are seen sooner, for a core that is always busy.
    void set_busy_poll(bool on) noexcept { busy_poll_ = on; }

    /// When the latest run had done its waiting: the time at which all it dispatched arrived.
    [[nodiscard]] Nanoseconds arrival() const noexcept { return arrival_; }
    /// System calls made so far by this reactor.
    [[nodiscard]] virtual std::uint64_t system_calls() const noexcept = 0;
    [[nodiscard]] virtual std::string_view backend() const noexcept = 0;

    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
    [[nodiscard]] TimerQueue& timers() noexcept { return timers_; }

protected:
    void note_arrival() noexcept { arrival_ = clock_.now(); }
    [[nodiscard]] bool busy_poll() const noexcept { return busy_poll_; }
    /// `max_wait`, or less when a timer is due before.
    [[nodiscard]] Nanoseconds until_timer(Nanoseconds max_wait) const noexcept {
        const auto due = timers_.next();
        if (!due || max_wait == 0) {
            return max_wait;
        }
        const Nanoseconds now = clock_.now();
        return *due <= now ? 0 : std::min(max_wait, *due - now);
    }

private:
    const Clock& clock_;
    TimerQueue timers_;
    Nanoseconds arrival_ = 0;
    bool busy_poll_ = false;
};

/// A reactor for the calling thread; only that thread may use it. `operations` is how many it should be able
/// to stage at once without an extra system call or allocation. On io_uring where the host lets us have it,
/// otherwise on poll(2); the environment variable MPATH_NET (io_uring, poll or auto) forces one, and then it
/// is an error when it can't be had.
Result<std::unique_ptr<Reactor>> make_reactor(const Clock& clock, unsigned operations);

} // namespace mpath::net
