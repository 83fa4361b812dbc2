// SPDX-License-Identifier: GPL-2.0-only
// A session as something to await: one coroutine per command, each with a deadline.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/sense.h"
#include "iscsi/session.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/task.h"

namespace mpath::iscsi {

/// How a command ended that was answered.
struct CommandResult {
    Sense sense;             ///< status and, with CHECK CONDITION, what it says
    std::uint32_t moved = 0; ///< bytes of data

    [[nodiscard]] bool good() const noexcept { return sense.status == scsi_status::kGood; }
};

class CommandSession final : private SessionClient {
public:
    /// What it hears; each may be empty.
    struct News {
        /// Called once: when the session ends itself, from fail() or at a deadline, before anybody else can
        /// notice what comes of that; otherwise when it has closed, with code 0 if close() did it.
        std::function<void(const Error&)> on_end;
        std::function<void(const AsyncEvent&)> on_async;
        /// With whichever command a unit attention came: it comes once.
        std::function<void(const Sense&)> on_attention;
    };

    CommandSession(net::Reactor& reactor, LoggedIn logged_in, const Lun& lun, News news);
    /// Only after close() has ended.
    ~CommandSession() override = default;

    /// Sends the command, as soon as the target takes one, and waits for its end, whatever its status; again
    /// for as long as that is a unit attention or BUSY, a few times. One at a time. `data` must stay until
    /// the task has ended. A command without an answer at `deadline` takes the whole session down: only then
    /// is its buffer free. `name` (static) stands in the sentences.
    net::Task<Result<CommandResult>> execute(Cdb cdb, Transfer transfer, std::span<std::byte> data,
                                             Nanoseconds deadline, const char* name);
    /// The same, but any status except success is an error: ENODEV where there is no such LUN, else EIO.
    net::Task<Result<CommandResult>> succeed(Cdb cdb, Transfer transfer, std::span<std::byte> data,
                                             Nanoseconds deadline, const char* name);
    /// NOP-Out, and waits for the answer; one at a time.
    net::Task<Result<void>> ping(Nanoseconds deadline);
    /// Asks the target to end the session, and waits for its answer until `deadline`. Then close().
    net::Task<int> log_out(Nanoseconds deadline);

    /// Ends the connection, and every command as lost. When the task has ended no command and no callback is
    /// left, and the session may be destroyed.
    net::Task<int> close();

    /// Ends the session for `reason`, as if it had been lost.
    void fail(const Error& reason) noexcept;

    [[nodiscard]] bool closing() const noexcept { return session_.closing(); }
    [[nodiscard]] net::Reactor& reactor() const noexcept { return reactor_; }
    [[nodiscard]] const SessionParameters& parameters() const noexcept { return session_.parameters(); }

private:
    struct Waiter;

    // SessionClient
    void on_command_done(const CommandEnd& end) noexcept override;
    void on_room() noexcept override;
    void on_async(const AsyncEvent& event) noexcept override;
    void on_pong() noexcept override;
    void on_task_managed(std::uint32_t /*tag*/, std::uint8_t /*response*/) noexcept override {}
    void on_logged_out(std::uint8_t response) noexcept override;
    void on_session_closed(const Error& error) noexcept override;
    net::Task<Result<CommandResult>> execute_once(Cdb cdb, Transfer transfer, std::span<std::byte> data,
                                                  Nanoseconds deadline, const char* name);
    [[nodiscard]] Error lost_error(const char* name) const;
    void tell_end(const Error& reason) noexcept;
    net::TimerQueue::Id fail_at(Nanoseconds deadline, const char* name);

    net::Reactor& reactor_;
    Lun lun_;
    News news_;
    bool end_told_ = false;
    Error end_{0, {}};                        ///< why the session is closed
    std::vector<Waiter*> lost_;               ///< whose commands the closing session has given up
    std::optional<net::Event<int>> room_;     ///< for the command that waits to be sent
    std::optional<net::Event<bool>> pong_;    ///< of the ping under way; true: answered
    std::optional<net::Event<int>> farewell_; ///< of the logout under way
    net::Event<bool> closed_;
    Session session_;
};

} // namespace mpath::iscsi
