// SPDX-License-Identifier: GPL-2.0-only
// The life of one path, from the first attempt to connect it to the end of the job:
//
//   connecting ──> live ──lost──> closing ──> waiting ──reconnect_delay──> connecting ──> live …
//        └──refused──────────────────────────────^                             └──> waiting, or gone
//
// It ends in gone (job/reconnect_schedule.h, or the target refused for good) or, by stop() and from any
// state, in ended. What I/O has to know is in the news, what people want to know in the events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "job/job_device.h"
#include "job/life_options.h"
#include "job/path_link.h"
#include "job/path_news.h"
#include "job/reconnect_schedule.h"
#include "live/event_log.h"
#include "net/async.h"
#include "net/reactor.h"

namespace mpath::job {

enum class AssociationState : std::uint8_t {
    connecting, ///< an attempt is under way
    live,
    closing, ///< lost: what is left of it is being taken down
    waiting, ///< for the next attempt
    gone,    ///< given up
    ended,   ///< by stop()
};

std::string_view to_string(AssociationState state);

/// What all associations of a job share. References outlive them.
struct AssociationPlace {
    net::Reactor& reactor;
    PathNews& news;
    live::EventLog& events;
    const LifeOptions& life;
    const std::optional<JobDevice>& device; ///< nothing: whatever a path leads to is right
};

class Association final : private LinkListener {
public:
    Association(const AssociationPlace& place, PathConnector& connector, std::uint16_t path);
    Association(const Association&) = delete;
    Association& operator=(const Association&) = delete;
    /// Only when stop() has told of the end.
    ~Association() override = default;

    /// Connects the path. `first` hears how the first attempt ended; from then on there are only the news.
    void start(std::function<void(Result<std::unique_ptr<PathConnection>>)> first);

    /// Somebody else has lost the path, and `cause` is why. Nothing happens unless it is live.
    void lose(std::string cause);
    /// Reads the state of the path's group; the news tell it, even when it can't be read.
    void refresh_state();
    /// Ends whatever is going on, in order where the controller still answers. `ended` is called once.
    void stop(std::function<void()> ended);

    [[nodiscard]] AssociationState state() const noexcept { return state_; }

private:
    // LinkListener
    void on_path_state(PathState state, std::string_view name) noexcept override;
    void on_device_changed(std::string text) noexcept override;
    void on_event(std::string text) noexcept override;
    void on_lost(const Error& error) noexcept override;

    net::Task<int> run(std::function<void(Result<std::unique_ptr<PathConnection>>)> first);
    net::Task<int> stay_live();
    net::Task<bool> reconnect();
    net::Task<Result<std::unique_ptr<PathConnection>>> attempt();
    net::Task<int> pause_until(Nanoseconds due);
    void wake();

    void begin_outage();
    void end_outage();
    void cancel_failing();
    void fail_io();
    void tell_refusal(const Error& error);
    void come_back(std::unique_ptr<PathConnection> connection);
    void give_up(std::string_view text);
    void tell_device(const PathFacts& facts);
    void set_state(AssociationState state);
    live::EventLog::Handle add_event(record::EventKind kind, std::string_view text);
    [[nodiscard]] Nanoseconds now() const noexcept { return place_.reactor.clock().now(); }

    AssociationPlace place_;
    PathConnector& connector_;
    std::uint16_t path_;
    AssociationState state_ = AssociationState::connecting;
    std::unique_ptr<PathLink> link_;
    net::Cancellation cancellation_;
    std::optional<net::Event<int>> wake_; ///< of the wait that stop(), a loss or a timer ends

    std::optional<ReconnectSchedule> outage_; ///< since the path was lost or refused
    std::optional<net::TimerQueue::Id> failing_timer_;
    std::string refusal_;    ///< the last one told
    std::uint64_t size_ = 0; ///< of the device, as last told; 0: not known

    bool was_up_ = false;
    bool running_ = false;
    bool stopping_ = false;
    std::function<void()> on_ended_;
};

} // namespace mpath::job
