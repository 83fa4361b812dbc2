// SPDX-License-Identifier: GPL-2.0-only
// What a job's I/O thread does: takes I/Os, sends them in batches, hands completions out and counts.
// Nothing here allocates, locks or formats once the paths are added, unless one of them is in trouble.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "job/failover_gaps.h"
#include "job/path_care.h"
#include "job/path_news.h"
#include "job/steering.h"
#include "live/job_slot.h"
#include "multipath/path_set.h"
#include "net/reactor.h"
#include "path/path.h"
#include "path/request.h"

namespace mpath::job {

struct EngineOptions {
    std::uint32_t iodepth = 1;
    Nanoseconds interval = kSecond;        ///< how often publish() is called
    Nanoseconds io_timeout = 30 * kSecond; ///< of one attempt; it ends the path's connections. 0: none
    /// For how long fio wants to do I/O: it looks at the time only between I/Os. 0: not known.
    Nanoseconds most_time = 0;
    multipath::RetryRules retry{};
    Nanoseconds steer_settle = multipath::kDefaultSettle;
    std::optional<SteerPlan> steer{}; ///< nothing: only requests from outside steer
};

/// How long to sleep at most while I/O is outstanding: news and the end of the job are looked for then.
inline constexpr Nanoseconds kLongestSleep = 10 * kMillisecond;

class IoEngine final : private PathListener, private multipath::RetryListener {
public:
    /// All references outlive the engine. `terminate` may be set by anybody at any time. The iopolicy is that
    /// of the slot's first setting, from begin() on.
    IoEngine(const Clock& clock, net::Reactor& reactor, live::JobSlot& slot, PathNews& news, PathCare& care,
             const volatile bool& terminate, EngineOptions options);
    ~IoEngine() override;

    /// For making a path: where it tells that it was lost, and where it pushes what it completes.
    [[nodiscard]] PathListener& listener() noexcept { return *this; }
    [[nodiscard]] RequestList& completions() noexcept { return paths_.arrivals(); }
    /// In the order of the slot's paths; all of them before begin().
    void add_path(std::string name, std::unique_ptr<Path> path);
    /// The job goes to its first setting; before the first queue().
    void begin() noexcept { steering_.begin(clock_.now()); }
    [[nodiscard]] multipath::PathSet& paths() noexcept { return paths_; }
    [[nodiscard]] const multipath::PathSet& paths() const noexcept { return paths_; }

    void queue(std::uint32_t index, Operation operation, std::byte* buffer, std::uint64_t offset,
               std::uint32_t length) noexcept;
    void commit() noexcept;
    /// As mpath_job_getevents().
    std::uint32_t getevents(std::uint32_t min, std::uint32_t max) noexcept;
    [[nodiscard]] const Request& event(std::uint32_t i) const noexcept { return *events_[i]; }
    [[nodiscard]] const Request& request(std::uint32_t index) const noexcept { return requests_[index]; }

    /// The I/O of this index, just handed out, is one that fio counts.
    void account(std::uint32_t index) noexcept;
    void set_accounting(bool accounting) noexcept;
    /// Forgets all that was counted.
    void reset() noexcept;
    /// Copies what paths and thread count for themselves into the slot.
    void publish() noexcept;

    /// Disconnects every path in order, and returns when the kernel holds no memory of theirs any more: at
    /// once, because what is under way is cancelled.
    void close() noexcept;

private:
    struct ThreadUsage {
        std::uint64_t user = 0;   ///< nanoseconds
        std::uint64_t system = 0; ///< nanoseconds
        std::uint64_t voluntary_switches = 0;
        std::uint64_t involuntary_switches = 0;
    };

    static ThreadUsage thread_usage() noexcept;
    void steer(Nanoseconds now) noexcept;
    void end_attempt(Request& request) noexcept;
    void end_trouble(Request& request) noexcept;

    // What changes (io_engine_paths.cc).
    void on_path_lost(std::uint16_t index, const Error& error) noexcept override;
    void on_attempt_failed(Request& request) noexcept override;
    void on_sent_again(Request& request) noexcept override;
    void on_hold_end(Request& request, Nanoseconds now) noexcept override;
    void on_exposed(std::uint16_t path) noexcept override;
    void on_state_refused(std::uint16_t path) noexcept override;
    void take_news() noexcept;
    void take_news_of(std::uint16_t index) noexcept;
    void lose(std::uint16_t index, const std::string& cause) noexcept;
    /// Nothing beside the I/O itself needs a look.
    [[nodiscard]] bool quiet() const noexcept {
        return settled_ && news_.generation() == news_seen_ && looked_at_ < deadlines_due_ &&
               !steering_.due(looked_at_);
    }
    void look_after_paths() noexcept;
    void check_deadlines(Nanoseconds now) noexcept;
    [[nodiscard]] Nanoseconds patience() const noexcept;
    void flush() noexcept;
    void wait_for_arrivals() noexcept;
    void look(Nanoseconds max_wait) noexcept;
    void take_finished(std::uint32_t max) noexcept;
    void collect() noexcept;
    void sample_zeroes(Request& request) noexcept;
    void give_up() noexcept;

    const Clock& clock_;
    net::Reactor& reactor_;
    live::JobSlot& slot_;
    PathNews& news_;
    PathCare& care_;
    std::uint32_t news_seen_ = 0;
    bool paths_changed_ = false; ///< and the path set does not know yet
    bool returning_ = false;     ///< a path has new connections, but is not closed yet
    bool settled_ = true;        ///< neither of these, and no I/O waits for a path or a moment
    const volatile bool& terminate_;
    multipath::PathSet paths_;
    Steering steering_;
    std::vector<std::unique_ptr<Path>> owned_paths_;
    std::vector<live::PathSlot*> path_slots_;
    std::vector<std::uint32_t> state_reports_; ///< of each path, as last taken
    std::vector<bool> loss_known_;             ///< of each path: which event tells of its loss
    std::vector<bool> state_asked_;            ///< of each path, and not told yet
    FailoverGaps gaps_;
    std::vector<Request> requests_;

    RequestList finished_; ///< completed, not yet handed out
    std::vector<Request*> events_;
    Nanoseconds handed_out_at_ = 0;

    std::uint32_t outstanding_ = 0; ///< taken and not yet finished
    std::uint32_t unsent_ = 0;      ///< taken since the last flush
    Nanoseconds unsent_since_ = 0;
    Nanoseconds queued_at_ = 0; ///< when the latest I/O was taken
    Nanoseconds looked_at_ = 0; ///< when the sockets were looked at last
    Nanoseconds most_time_;
    Nanoseconds over_at_ = 0;    ///< when fio would like to end; 0: it has not begun
    Nanoseconds give_up_at_ = 0; ///< 0: nobody asked to terminate yet
    bool gave_up_ = false;

    Nanoseconds interval_;
    Nanoseconds publish_at_ = 0;
    Nanoseconds io_timeout_;
    Nanoseconds deadlines_due_ = 0; ///< to be checked
    std::uint32_t reads_seen_ = 0;
    std::vector<PathTraffic> traffic_before_; ///< at the last reset
    ThreadUsage usage_before_;
    std::uint64_t system_calls_before_ = 0;
};

/// Takes an I/O off the path that carried it.
inline void IoEngine::end_attempt(Request& request) noexcept {
    record::PathCounters& counters = path_slots_[request.path]->counters;
    if (request.waited > 0) {
        record::on_wait_end(counters, request.waited);
    }
    record::on_return(counters, request.completed_at);
    if (request.error_class != ErrorClass::none) {
        record::on_error(counters, request.error_class);
    }
}

} // namespace mpath::job
