// SPDX-License-Identifier: GPL-2.0-only
// The session that looks after a path: it finds out what the target's logical unit is and in which state its
// port group, and hears of what changes. Lives on the keeper's reactor; the sessions that carry I/O are
// logged in here and then handed to the I/O thread.
//
// Life: connect_to() logs in and identifies the unit; log_in_io_sessions() makes the other sessions; start()
// watches; logout() ends it.
//
// While it lives (control_session_watch.cc): targets tell of most changes by a unit attention, with the next
// command of each initiator. So at every half of the keep-alive timeout NOP-Out asks whether the target is
// there and TEST UNIT READY what is new; what it says is looked at, in full, at once. The state is asked for
// each time, as not every target tells of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/command_session.h"
#include "iscsi/inquiry.h"
#include "iscsi/limits.h"
#include "iscsi/name.h"
#include "iscsi/port_groups.h"
#include "iscsi/session_facts.h"
#include "iscsi/session_options.h"
#include "iscsi/uri.h"
#include "net/address.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/task.h"
#include "path/link_listener.h"

namespace mpath::iscsi {

class ControlSession {
public:
    /// Logs in at the first of `addresses` that answers, as number 0 of `isids`, and identifies the unit; all
    /// of it within options.connect_timeout. A unit whose port takes no I/O just now (standby) is identified
    /// as far as it says. `cancellation` (nullptr: none) ends it early with ECANCELED, and
    /// log_in_io_sessions() as well; it outlives the session. Codes as of log_in(), and ENODEV for a LUN that
    /// is not there, EMEDIUMTYPE for a unit that this initiator can't use.
    static net::Task<Result<std::unique_ptr<ControlSession>>>
    connect_to(net::Reactor& reactor, Uri uri, std::vector<net::SocketAddress> addresses,
               SessionOptions options, IsidBase isids, net::Cancellation* cancellation);
    ControlSession(const ControlSession&) = delete;
    ControlSession& operator=(const ControlSession&) = delete;
    /// Only after logout() has ended.
    ~ControlSession() = default;

    [[nodiscard]] const SessionFacts& facts() const noexcept { return facts_; }
    /// As last read.
    [[nodiscard]] PathState path_state() const noexcept { return iscsi::path_state(state_); }
    [[nodiscard]] std::string_view state_name() const noexcept { return own_name(state_); }

    /// options.io_queues sessions, numbers 1 and up of the ISIDs, which have heard what was new already.
    net::Task<Result<std::vector<LoggedIn>>> log_in_io_sessions(Nanoseconds deadline);

    /// From here on `listener` hears what happens. A session that was lost since connect_to() is reported
    /// before the call returns.
    void start(LinkListener& listener);

    /// Asks for the states of the port groups: an I/O was refused for one. on_path_state() has the answer.
    /// After start().
    void refresh_state();
    /// Ends the session for `reason`, as if it had been lost: on_lost() follows. After start().
    void fail(const Error& reason) noexcept;

    /// Logs out and closes the connection; sessions that carry I/O should be closed before. 0, or a positive
    /// errno when the target did not confirm (ETIMEDOUT: by `deadline`).
    net::Task<int> logout(Nanoseconds deadline);

private:
    ControlSession(net::Reactor& reactor, Uri uri, SessionOptions options, IsidBase isids);

    // Bringing it up (control_session.cc).
    net::Task<Result<void>> bring_up(Nanoseconds deadline);
    net::Task<Result<void>> connect(Nanoseconds deadline);
    net::Task<Result<PortGroups>> report_groups(Nanoseconds deadline, std::optional<AluaState>& refused);
    net::Task<Result<AluaState>> read_state(Nanoseconds deadline);
    net::Task<Result<void>> ask_ready(Nanoseconds deadline);
    void want(const Attention& attention);

    // The unit (control_session_unit.cc).
    net::Task<Result<void>> identify(Nanoseconds deadline);
    net::Task<Result<InquiryFacts>> find_unit(Nanoseconds deadline);
    net::Task<std::string> other_units(Nanoseconds deadline);
    net::Task<Result<Identification>> read_identification(Nanoseconds deadline);
    net::Task<Result<std::vector<std::byte>>> inquire(bool vital, std::uint8_t page, Nanoseconds deadline);
    net::Task<Result<void>> measure(Nanoseconds deadline);
    [[nodiscard]] bool has_page(std::uint8_t page) const;

    // Watching (control_session_watch.cc).
    net::Task<int> watch();
    net::Task<int> look();
    net::Task<int> update_state(Nanoseconds deadline);
    net::Task<int> update_capacity(Nanoseconds deadline);
    net::Task<int> update_identity(Nanoseconds deadline);
    void set_state(AluaState state);
    void lose_unit(std::string cause);
    net::Task<int> pause();
    void wake();
    [[nodiscard]] Nanoseconds period() const noexcept;
    [[nodiscard]] Nanoseconds patience() const noexcept;
    [[nodiscard]] Nanoseconds now() const noexcept { return reactor_.clock().now(); }
    void heard(const AsyncEvent& event);
    void ended(const Error& error);

    net::Reactor& reactor_;
    Uri uri_;
    SessionOptions options_;
    IsidBase isids_;
    std::vector<net::SocketAddress> addresses_;
    net::Cancellation* cancellation_ = nullptr;
    SessionFacts facts_;
    std::unique_ptr<CommandSession> session_; ///< nullptr: never logged in
    std::vector<std::uint8_t> pages_;         ///< of vital product data that the unit has
    std::optional<std::uint16_t> port_group_; ///< of the port we are logged in to
    bool extended_ = true;                    ///< the target has not refused the extended header yet
    AluaState state_ = AluaState::active_optimized;
    /// By TEST UNIT READY: the state of a port whose target does not report any.
    AluaState ready_state_ = AluaState::active_optimized;

    LinkListener* listener_ = nullptr;
    std::optional<Error> loss_; ///< before start()
    Attention wanted_;
    bool state_asked_ = false;                            ///< by refresh_state()
    std::string state_failure_;                           ///< last told; empty: it could be read
    bool asked_to_leave_ = false;                         ///< by the target
    std::optional<net::TimerQueue::Id> transition_timer_; ///< runs while the group is in transition
    Nanoseconds transition_pause_ = 0;                    ///< to the next look at it
    bool stopping_ = false;
    bool watching_ = false;
    bool woken_ = false;
    std::optional<net::Event<int>> wake_;
    net::Event<int> watched_; ///< watch() has ended
};

} // namespace mpath::iscsi
