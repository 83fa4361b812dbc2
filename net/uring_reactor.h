// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <liburing.h>

#include "net/reactor.h"

namespace mpath::net {

/// The io_uring backend: one ring, used by one thread.
class UringReactor final : public Reactor {
public:
    /// Fails where the kernel, a sysctl, a seccomp filter or a limit does not let us have it.
    static Result<std::unique_ptr<Reactor>> create(const Clock& clock, unsigned operations);
    ~UringReactor() override;

    void connect(Operation& operation, int fd, const sockaddr* address, socklen_t length) noexcept override;
    void receive(Operation& operation, int fd, msghdr* message, int flags) noexcept override;
    void send(Operation& operation, int fd, msghdr* message) noexcept override;
    void read(Operation& operation, int fd, void* buffer, std::uint32_t length) noexcept override;
    void cancel(Operation& operation) noexcept override;
    void run(Nanoseconds max_wait) noexcept override;

    [[nodiscard]] std::uint64_t system_calls() const noexcept override { return system_calls_; }
    [[nodiscard]] std::string_view backend() const noexcept override { return "io_uring"; }

private:
    explicit UringReactor(const Clock& clock) : Reactor(clock) {}
    io_uring_sqe* stage(Operation* operation) noexcept;
    Result<void> check();
    void enter(Nanoseconds max_wait) noexcept;
    [[nodiscard]] bool kernel_has_news() const noexcept;
    void spin(Nanoseconds max_wait) noexcept;
    void dispatch() noexcept;

    io_uring ring_{};
    unsigned sends_staged_ = 0; ///< since the last enter
    std::uint64_t system_calls_ = 0;
};

} // namespace mpath::net
