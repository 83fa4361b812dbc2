// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "net/reactor.h"

namespace mpath::net {

/// The poll(2) backend, for hosts and containers that do not let us have io_uring.
///
/// Asking costs as much as trying, so what will probably work is tried without asking: sends always, a
/// receive while that has gone well lately. Whether the others can go on, one poll() asks for all of them;
/// it is also how run() sleeps.
class PollReactor final : public Reactor {
public:
    PollReactor(const Clock& clock, unsigned operations);

    void connect(Operation& operation, int fd, const sockaddr* address, socklen_t length) noexcept override;
    void receive(Operation& operation, int fd, msghdr* message, int flags) noexcept override;
    void send(Operation& operation, int fd, msghdr* message) noexcept override;
    void read(Operation& operation, int fd, void* buffer, std::uint32_t length) noexcept override;
    void cancel(Operation& operation) noexcept override;
    void run(Nanoseconds max_wait) noexcept override;

    [[nodiscard]] std::uint64_t system_calls() const noexcept override { return system_calls_; }
    [[nodiscard]] std::string_view backend() const noexcept override { return "poll"; }

private:
    enum class Kind : std::uint8_t { connect, receive, send, read };

    struct Pending {
        Operation* operation = nullptr;
        msghdr* message = nullptr;         ///< receive, send
        const sockaddr* address = nullptr; ///< connect
        void* buffer = nullptr;            ///< read
        std::size_t length = 0;            ///< of address or buffer; of a message that must be moved whole
        std::size_t moved = 0;             ///< of such a message, so far
        int fd = -1;
        int result = 0; ///< once ended
        Kind kind = Kind::connect;
        bool whole = false;  ///< ends with all of `length`, the stream's end or an error only
        bool tried = false;  ///< since it was staged
        bool looked = false; ///< in this run
        bool cancelled = false;
        bool ended = false;
    };

    struct Ended {
        Operation* operation;
        int result;
    };

    void stage(const Pending& pending) noexcept;
    [[nodiscard]] static bool can_be_tried(const Pending& pending) noexcept;
    [[nodiscard]] bool worth_trying(const Pending& pending) const noexcept;
    void begin(Pending& pending) noexcept;
    void attempt(Pending& pending) noexcept;
    void try_unasked(Pending& pending) noexcept;
    void attempt_connect(Pending& pending) noexcept;
    void attempt_transfer(Pending& pending) noexcept;
    void end(Pending& pending, int result) noexcept;
    [[nodiscard]] bool look_at_only_one() noexcept;
    void look(Nanoseconds max_wait) noexcept;
    void spin(Nanoseconds max_wait) noexcept;
    void dispatch() noexcept;

    std::vector<Pending> pending_; ///< in the order they were staged
    std::vector<pollfd> polled_;   ///< one for each of them
    std::vector<Ended> ended_;
    std::size_t ended_sends_ = 0; ///< in this run
    std::size_t ended_others_ = 0;
    bool put_off_ = false; ///< the run before did not look at everything
    unsigned runs_ = 0;
    std::uint64_t system_calls_ = 0;
};

} // namespace mpath::net
