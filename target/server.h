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
#include "target/listener.h"
#include "target/options.h"
#include "target/subsystem.h"

namespace mpath::target {

/// The target: its listeners and connections, served by whichever one thread calls run().
class Server {
public:
    /// Listens when it returns. `clock` has to outlive the server.
    static Result<std::unique_ptr<Server>> create(const Options& options, const Clock& clock);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Serves until stop().
    void run();
    /// Ends run(). May be called from any thread and from signal handlers.
    void stop();

    /// Has run() end when the other end of this pipe, socket or terminal is closed; what comes from it is
    /// thrown away.
    Result<void> stop_when_closed(int fd);

    [[nodiscard]] const std::vector<std::unique_ptr<Listener>>& listeners() const { return listeners_; }
    [[nodiscard]] const Subsystem& subsystem() const { return *subsystem_; }

private:
    /// What an epoll event is about: a listener, a connection, a lifeline, or (none of them) the call to
    /// stop.
    struct Watch {
        int lifeline = -1; ///< not ours
        Listener* listener = nullptr;
        std::unique_ptr<Connection> connection;
        std::uint32_t events = 0; ///< as told to epoll
    };

    Server(const Options& options, const Clock& clock) : poll_(options.poll), clock_(clock) {}
    Result<void> watch(int fd, Watch& watch, std::uint32_t events);
    void accept(Listener& listener);
    void handle(Watch& watch, std::uint32_t events, Nanoseconds now);
    /// Timers, new interests and closed connections; returns when it is needed next.
    Nanoseconds tend(Nanoseconds now);
    void update_interest(Watch& watch);
    [[nodiscard]] int wait(Nanoseconds until, Nanoseconds now, void* events, int room) const;

    bool poll_;
    const Clock& clock_;
    UniqueFd epoll_;
    UniqueFd wake_;
    std::atomic<bool> stopping_ = false;
    std::unique_ptr<Subsystem> subsystem_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::vector<std::unique_ptr<Watch>> watches_; ///< all but the connections'
    std::vector<std::unique_ptr<Watch>> connections_;
    Nanoseconds next_keep_alive_check_ = 0;
};

/// Paths to a namespace over all listeners, ready to stand behind `paths=` in a job file.
std::string paths_of(const Server& server, std::uint32_t nsid);

} // namespace mpath::target
