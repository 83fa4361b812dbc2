// SPDX-License-Identifier: GPL-2.0-only
// One association with a controller: the admin queue, what was learnt through it, and what keeps it alive.
// Lives on the keeper's reactor; I/O queues are connected here and then handed to the I/O thread.
//
// Life: connect() brings the controller up and identifies the namespace; connect_io_queues() makes the
// queues' connections; start() asks for events; shutdown(), or close() where nothing is left to say to the
// peer, ends it. Keep-alives go out from connect() on for as long as the reactor runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
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

/// Called on the reactor's thread, from its run, or from start().
class ControllerListener {
public:
    ControllerListener() = default;
    ControllerListener(const ControllerListener&) = delete;
    ControllerListener& operator=(const ControllerListener&) = delete;
    virtual ~ControllerListener() = default;

    /// The namespace's group has entered another state than the one last reported, at first facts().state.
    virtual void on_path_state(PathState state) noexcept = 0;
    /// Something worth a line in the record: an asynchronous event, a refused ANA log.
    virtual void on_event(std::string text) noexcept = 0;
    /// The association is gone, without our doing; nothing follows. I/O queues have their own connections and
    /// notice on their own or not at all: close them.
    virtual void on_lost(const Error& error) noexcept = 0;
};

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
    void start(ControllerListener& listener);

    /// Shuts the controller down in order and closes the admin queue; I/O queues should be closed before. 0,
    /// or a positive errno when the controller did not confirm (ETIMEDOUT: within RTD3E or by `deadline`).
    net::Task<int> shutdown(Nanoseconds deadline);
    /// Closes the admin queue at once. The controller is the peer's to clean up.
    net::Task<int> close();

private:
    Controller(net::Reactor& reactor, Uri uri, ControllerOptions options);

    net::Task<Result<void>> bring_up(Nanoseconds deadline);
    net::Task<Result<void>> connect_admin(Nanoseconds deadline);
    net::Task<Result<void>> prepare(Nanoseconds deadline);
    net::Task<Result<void>> enable(Nanoseconds deadline);
    net::Task<Result<void>> identify_controller(Nanoseconds deadline);
    net::Task<Result<void>> configure(Nanoseconds deadline);
    net::Task<Result<void>> find_namespace(Nanoseconds deadline);
    net::Task<Result<void>> identify_namespace(Nanoseconds deadline);
    net::Task<Result<PathState>> read_path_state(Nanoseconds deadline);
    net::Task<int> watch_events();
    net::Task<int> handle_event(AsyncEvent event);
    net::Task<int> refresh_path_state();
    void set_state(ControllerState state);
    void queue_closed(const Error& error);

    net::Reactor& reactor_;
    Uri uri_;
    ControllerOptions options_;
    std::vector<net::SocketAddress> addresses_;
    ControllerFacts facts_;
    Statistics statistics_;
    std::vector<Transition> transitions_;
    Error loss_{0, {}};
    ControllerListener* listener_ = nullptr;
    PathState path_state_ = PathState::optimized;
    Capabilities capabilities_;
    std::uint32_t configuration_ = 0; ///< CC as last written
    ControllerIdentity identity_;
    std::unique_ptr<AdminQueue> admin_;
    std::unique_ptr<KeepAlive> keep_alive_;
    std::unique_ptr<AnaReader> ana_;
};

} // namespace mpath::nvme
