// SPDX-License-Identifier: GPL-2.0-only
// The thread that keeps a job's paths alive while fio is elsewhere. It owns what looks after each
// path (an admin queue, a control session), which leads a life of its own (job/association.h): it is
// connected with all that carries I/O, kept alive, listened to, connected again when it was lost, and ended
// in order. What carries I/O is handed to the I/O thread once connected. Nothing the keeper does makes the
// I/O thread wait, and nothing that one path does another.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/association.h"
#include "job/job_device.h"
#include "job/life_options.h"
#include "job/path_news.h"
#include "job/protocol.h"
#include "live/event_log.h"
#include "net/reactor.h"
#include "net/wakeup.h"

namespace mpath::job {

class Keeper {
public:
    /// `on_interval` is called on the keeper's thread every `interval` after all paths were tried. A path
    /// that does not lead to `device` is refused; nothing: whatever it leads to is right.
    Keeper(const Clock& clock, std::vector<PathUri> paths, ConnectOptions options, live::EventLog& events,
           Nanoseconds interval, std::function<void()> on_interval, LifeOptions life = {},
           std::optional<JobDevice> device = {});
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper();

    /// Starts the thread and waits until every path is connected or has failed; one result a path, in order.
    /// A path that has failed is tried again as one that was lost. Fails as a whole when there can be no
    /// thread or reactor.
    Result<std::vector<Result<std::unique_ptr<PathConnection>>>> connect();
    [[nodiscard]] PathNews& news() noexcept { return news_; }

    /// An I/O connection of the path broke, or was given up, for `cause` (a sentence): its association ends,
    /// and it is connected again. Nothing happens when it is known already. Between connect() and stop();
    /// does not wait. For trouble, not for the I/O path: it locks and allocates.
    void report_lost(std::uint16_t path, std::string cause);
    /// The device answered an I/O with the state of the path's group: asks for it again. The answer is in
    /// news().set_state(), even when it is the old state or nobody answered. As above: does not wait.
    void refresh_state(std::uint16_t path);

    /// Shuts all controllers down in order and joins the thread.
    void stop();

private:
    void run();
    void connect_all(net::Reactor& reactor);
    void serve(net::Reactor& reactor);
    void hand_over(Result<std::vector<Result<std::unique_ptr<PathConnection>>>> connections);
    void arm_interval(net::Reactor& reactor, Nanoseconds due);

    const Clock& clock_;
    std::vector<PathUri> uris_;
    ConnectOptions options_;
    live::EventLog& events_;
    Nanoseconds interval_;
    std::function<void()> on_interval_;
    LifeOptions life_;
    std::optional<JobDevice> device_;
    PathNews news_;

    std::vector<std::unique_ptr<PathConnector>> connectors_; ///< the keeper's thread only, as the next two
    std::vector<std::unique_ptr<Association>> associations_;
    bool stopping_ = false;
    std::unique_ptr<net::Wakeup> wakeup_;

    std::mutex mutex_; ///< guards the hand-over below
    std::condition_variable connected_;
    std::optional<Result<std::vector<Result<std::unique_ptr<PathConnection>>>>> connections_;
    std::thread thread_;
};

} // namespace mpath::job
