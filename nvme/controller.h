// SPDX-License-Identifier: GPL-2.0-only
// One association with a controller: the admin queue, what was learnt through it, and what keeps it alive.
// Lives on the keeper's reactor; I/O queues are connected here and then handed to the I/O thread.
//
// Life: connect() brings the controller up and identifies the namespace; connect_io_queues() makes the
// queues' connections; start() asks for events; shutdown(), or close() where nothing is left to say to the
// peer, ends it. Keep-alives go out from connect() on for as long as the reactor runs.
//
// While it lives (controller_events.cc): the next Asynchronous Event Request is on its way before the event
// of the last one is looked at, and what comes while a log is read has it read once more. So however fast
// changes follow one another, the last one is seen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/socket_options.h"
#include "net/task.h"
#include "nvme/admin_queue.h"
#include "nvme/ana_reader.h"
#include "nvme/controller_facts.h"
#include "nvme/identify.h"
#include "nvme/keep_alive.h"
#include "nvme/pdu_options.h"
#include "nvme/queue_connect.h"
#include "nvme/uri.h"
#include "nvme/wire/log_page.h"
#include "nvme/wire/registers.h"
#include "path/link_listener.h"
#include "path/state.h"

namespace mpath::nvme {

struct ControllerOptions {
    HostIdentity host;
    std::uint16_t io_queues = 1;
    std::uint16_t queue_size = 128;     ///< entries per I/O queue
    std::uint32_t keep_alive_ms = 5000; ///< 0 = none
    Nanoseconds connect_timeout = 0;    ///< for the whole of connect(), without the I/O queues
    net::SocketOptions socket{};
    PduOptions pdu{};
};

/// How long to wait for a controller's shutdown by default: nothing of a job depends on it.
inline constexpr Nanoseconds kShutdownPatience = 3 * kSecond;

enum class ControllerState : std::uint8_t {
    connecting,  ///< admin queue
    enabling,    ///< CC.EN written, CSTS.RDY awaited
    identifying, ///< Identify, features, ANA log
    live,
    shutting_down, ///< CC.SHN written, CSTS.SHST awaited
    closed,        ///< by us
    lost,          ///< by the peer, the network, or an answer that did not come in time
};

std::string_view to_string(ControllerState state);

class Controller {
public:
    struct Transition {
        ControllerState state;
        Nanoseconds at; ///< monotonic
    };
    struct Statistics {
        std::uint64_t keep_alives = 0;      ///< answered
        std::uint64_t events = 0;           ///< asynchronous events
        std::uint64_t ana_logs_read = 0;    ///< whole and valid, the one at connect included
        std::uint64_t ana_logs_refused = 0; ///< garbage, or never the same twice: the old state was kept
    };

    /// Resolves the host (blocking) and brings the controller up. The sentence of an error begins with the
    /// peer's address once there is one. Codes as of connect_queue(), and ENODEV for a missing namespace,
    /// EMEDIUMTYPE for one that this initiator can't use, ENOTSUP for such a controller.
    static net::Task<Result<std::unique_ptr<Controller>>> connect(net::Reactor& reactor, Uri uri,
                                                                  ControllerOptions options);
    /// The same to addresses that are known already. `cancellation` (nullptr: none) ends it early with
    /// ECANCELED, and connect_io_queues() as well; it outlives the controller.
    static net::Task<Result<std::unique_ptr<Controller>>>
    connect_to(net::Reactor& reactor, Uri uri, std::vector<net::SocketAddress> addresses,
               ControllerOptions options, net::Cancellation* cancellation);
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;
    /// Only after shutdown() or close() has ended.
    ~Controller() = default;

    [[nodiscard]] const ControllerFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] ControllerState state() const noexcept { return transitions_.back().state; }
    [[nodiscard]] const std::vector<Transition>& transitions() const noexcept { return transitions_; }
    [[nodiscard]] Statistics statistics() const noexcept;
    /// As last read.
    [[nodiscard]] PathState path_state() const noexcept { return path_state_; }

    /// facts().io_queues connections, ready to become Queues on any reactor.
    net::Task<Result<std::vector<ConnectedQueue>>> connect_io_queues(Nanoseconds deadline);

    /// From here on `listener` hears what happens. An association that was lost since connect() is reported
    /// before the call returns.
    void start(LinkListener& listener);

    /// Reads the ANA log, once more if that is under way: an I/O was answered with an ANA status.
    /// on_path_state() has the answer. After start().
    void refresh_state();
    /// Ends the association for `reason`, as if it had been lost: on_lost() follows. After start().
    void fail(Error reason) noexcept;

    /// Shuts the controller down in order and closes the admin queue; I/O queues should be closed before. 0,
    /// or a positive errno when the controller did not confirm (ETIMEDOUT: within RTD3E or by `deadline`).
    net::Task<int> shutdown(Nanoseconds deadline);
    /// Closes the admin queue at once. The controller is the peer's to clean up.
    net::Task<int> close();

private:
    struct NamespaceLook {
        NamespaceFacts facts;
        DeviceIdentity identity;
    };
    /// What is to be looked at next.
    struct Wanted {
        bool state = false;
        bool state_asked = false; ///< by refresh_state()
        bool name_space = false;
        std::vector<std::uint8_t> pages; ///< logs to be read only so that their events may come again
        [[nodiscard]] bool any() const { return state || name_space || !pages.empty(); }
    };

    Controller(net::Reactor& reactor, Uri uri, ControllerOptions options);

    net::Task<Result<void>> bring_up(Nanoseconds deadline);
    net::Task<Result<void>> connect_admin(Nanoseconds deadline);
    net::Task<Result<void>> prepare(Nanoseconds deadline);
    net::Task<Result<void>> enable(Nanoseconds deadline);
    net::Task<Result<void>> identify_controller(Nanoseconds deadline);
    net::Task<Result<void>> configure(Nanoseconds deadline);
    net::Task<Result<void>> find_namespace(Nanoseconds deadline);
    net::Task<Result<NamespaceLook>> identify_namespace(Nanoseconds deadline);
    net::Task<Result<PathState>> read_path_state(Nanoseconds deadline);
    net::Task<int> watch_event();
    void take_event(AsyncEvent event);
    void attend_soon();
    net::Task<int> attend();
    net::Task<int> update_path_state();
    void set_path_state(PathState state);
    void state_unread(const Error& error);
    void read_state_again(Nanoseconds pause);
    net::Task<int> look_at_namespace();
    void compare_namespace(const NamespaceLook& look);
    void lose_namespace(std::string cause);
    net::Task<int> read_log(std::uint8_t page, std::size_t length);
    [[nodiscard]] Nanoseconds transition_limit() const noexcept;
    [[nodiscard]] Nanoseconds silence_limit() const noexcept;
    void stop_timers();
    void set_state(ControllerState state);
    void queue_closed(const Error& error);

    net::Reactor& reactor_;
    Uri uri_;
    ControllerOptions options_;
    std::vector<net::SocketAddress> addresses_;
    net::Cancellation* cancellation_ = nullptr;
    ControllerFacts facts_;
    Statistics statistics_;
    std::vector<Transition> transitions_;
    Error loss_{0, {}};
    LinkListener* listener_ = nullptr;
    PathState path_state_ = PathState::optimized;
    Wanted wanted_;
    bool attending_ = false;
    bool told_of_no_ana_ = false;
    std::string state_failure_;   ///< last told; empty: the log could be read
    Nanoseconds state_pause_ = 0; ///< before the next read after one that failed
    std::optional<net::TimerQueue::Id> state_timer_;
    std::optional<net::TimerQueue::Id> transition_timer_; ///< runs while the group is in the state change
    Capabilities capabilities_;
    std::uint32_t configuration_ = 0; ///< CC as last written
    ControllerIdentity identity_;
    std::unique_ptr<AdminQueue> admin_;
    std::unique_ptr<KeepAlive> keep_alive_;
    std::unique_ptr<AnaReader> ana_;
};

} // namespace mpath::nvme
