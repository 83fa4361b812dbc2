// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "target/connection.h"
#include "target/fault/control_socket.h"
#include "target/fault/fault_injector.h"
#include "target/fault/script_runner.h"
#include "target/iscsi/node.h"
#include "target/listener.h"
#include "target/options.h"
#include "target/subsystem.h"

namespace mpath::target {

/// The target: its listeners and connections, served by whichever one thread calls run().
class Server : private Premises {
public:
    /// Listens when it returns. `clock` has to outlive the server.
    static Result<std::unique_ptr<Server>> create(const Options& options, const Clock& clock);
    ~Server() override;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Serves until stop().
    void run();
    /// Ends run(). May be called from any thread and from signal handlers.
    void stop();

    /// Has run() end when the other end of this pipe, socket or terminal is closed; what comes from it is
    /// thrown away.
    Result<void> stop_when_closed(int fd);

    /// Takes the statements of a script; those without a time act at once. Nothing is done if one of them is
    /// wrong. `name`: of the file, for the sentence about it. The answer is what `status` statements ask for.
    /// For the thread that calls run(), or before.
    Result<std::string> take_script(std::string_view text, std::string_view name);
    /// Takes statements at a unix socket while it runs; an empty path is one of its own choice. Returns the
    /// path.
    Result<std::string> open_control(const std::string& path);
    /// Writes down what scripts do.
    Result<void> log_faults(const std::string& file);

    [[nodiscard]] const ScriptRunner& script() const { return *script_; }
    /// Connections that are open.
    [[nodiscard]] std::size_t connections_of(const Listener& listener) const;
    [[nodiscard]] const std::vector<std::unique_ptr<Listener>>& listeners() const { return listeners_; }
    [[nodiscard]] const Subsystem& subsystem() const { return *subsystem_; }
    [[nodiscard]] const scsi::Node& iscsi() const { return *node_; }

private:
    /// What an epoll event is about: a listener, a connection, a lifeline, the control socket, or (none of
    /// them) the call to stop.
    struct Watch {
        int lifeline = -1; ///< not ours
        Listener* listener = nullptr;
        std::unique_ptr<ServedConnection> connection;
        bool control = false;
        std::uint32_t events = 0; ///< as told to epoll
        bool watched = true;      ///< epoll knows it
    };

    Server(const Options& options, const Clock& clock) : poll_(options.poll), clock_(clock) {}
    Result<void> watch(int fd, Watch& watch, std::uint32_t events);
    void accept(Listener& listener);
    void handle(Watch& watch, std::uint32_t events, Nanoseconds now);
    /// Timers, new interests and closed connections; returns when it is needed next.
    Nanoseconds tend(Nanoseconds now);
    void update_interest(Watch& watch);
    void prepare_scripts();
    void each_connection(const std::function<void(ServedConnection&)>& visit) override;
    void take_connects(Listener& listener, bool taken) override;
    [[nodiscard]] int wait(Nanoseconds until, Nanoseconds now, void* events, int room) const;

    bool poll_;
    const Clock& clock_;
    UniqueFd epoll_;
    UniqueFd wake_;
    std::atomic<bool> stopping_ = false;
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::unique_ptr<Subsystem> subsystem_;
    std::unique_ptr<scsi::Node> node_;
    std::vector<std::unique_ptr<Watch>> watches_; ///< all but the connections'
    std::vector<std::unique_ptr<Watch>> connections_;
    Nanoseconds next_keep_alive_check_ = 0;
    ScriptContext context_;
    std::unique_ptr<FaultInjector> injector_;
    std::unique_ptr<ScriptRunner> script_;
    std::unique_ptr<ControlSocket> control_;
};

/// Paths to a namespace over all listeners that speak this protocol, ready to stand behind `paths=` in a job
/// file; empty if there are none.
std::string paths_of(const Server& server, std::uint32_t nsid, Protocol protocol = Protocol::nvme_tcp);

} // namespace mpath::target
