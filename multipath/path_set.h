// SPDX-License-Identifier: GPL-2.0-only
// The paths of one job: picks one for each I/O, takes back what they complete, and sends again what failed
// because of a path. An I/O that no path can take is held as long as one may return; it is never spun on.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "multipath/disposition.h"
#include "multipath/io_policy.h"
#include "multipath/path_view.h"
#include "path/path_subset.h"
#include "path/request.h"

namespace mpath::multipath {

/// Request::path of an I/O that no path took.
inline constexpr std::uint16_t kUnassigned = 0xffff;

inline constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

/// Hears what happens to I/O between its first attempt and its end; from submit(), collect(), expire() and
/// path_changed().
class RetryListener {
public:
    RetryListener() = default;
    RetryListener(const RetryListener&) = delete;
    RetryListener& operator=(const RetryListener&) = delete;
    virtual ~RetryListener() = default;

    /// The attempt on request.path failed, at request.completed_at, and the I/O will be sent again. An
    /// attempt that ends the I/O is not told.
    virtual void on_attempt_failed(Request& request) noexcept = 0;
    /// The I/O was given to request.path, at request.dispatched_at, after a failure or a hold.
    virtual void on_sent_again(Request& request) noexcept = 0;
    /// A path has become usable for the I/O, or it fails: the hold began at request.trouble.held_since.
    virtual void on_hold_end(Request& request, Nanoseconds now) noexcept = 0;
    /// A write goes out while its attempt on `path` may still be executed.
    virtual void on_exposed(std::uint16_t path) noexcept = 0;
    /// An I/O's status said that the path's group is in another state; the path is in it from now on, unless
    /// the status does not say which it is (ErrorClass::state_changed).
    virtual void on_state_refused(std::uint16_t path) noexcept = 0;
};

/// All of it is called on the job's I/O thread; submit(), flush() and collect() neither allocate nor call
/// the system. The paths belong to the caller and outlive the set.
class PathSet {
public:
    PathSet(std::unique_ptr<IoPolicy> policy, RetryListener& listener, RetryRules rules = {});

    /// Where the set's paths push what they complete; hand it to each path when it is made.
    [[nodiscard]] RequestList& arrivals() noexcept { return arrivals_; }

    /// Appends a path, in the order of `paths=`; its index is the number of paths before it. `distance` is
    /// node_distance() from the job's NUMA node to the path's.
    std::uint16_t add(std::string name, Path& path, std::uint32_t distance = kLocalDistance);

    /// Takes the I/O. One that no path can take is held while one may return; otherwise it comes out of
    /// collect() with ErrorClass::no_path.
    void submit(Request& request) noexcept;
    /// Stages what was submitted, for the reactor's next run; touches only paths that got something.
    void flush() noexcept;
    /// Moves what has arrived to `finished`. `now` becomes the completion time of those that their path has
    /// not stamped, so call it right after the reactor ran.
    void collect(Nanoseconds now, RequestList& finished) noexcept;
    /// Whether collect() has something to do.
    [[nodiscard]] bool has_arrivals() const noexcept { return !arrivals_.empty(); }

    /// Sends what was to wait until `now`.
    void expire(Nanoseconds now) noexcept;
    /// When expire() has something to do; kNever.
    [[nodiscard]] Nanoseconds next_due() const noexcept { return next_due_; }
    /// Whether any I/O waits for a path or a moment.
    [[nodiscard]] bool waiting() const noexcept { return !held_.empty() || !delayed_.empty(); }
    /// The job ends: what waits fails, and nothing is sent again from here on.
    void give_up(Nanoseconds now) noexcept;

    /// Must be called when any path was lost, came back or changed its state, or may no longer return.
    void path_changed(Nanoseconds now) noexcept;
    /// Whether a path that is not live may become so, and I/O should wait for it.
    void set_may_return(std::uint16_t index, bool may_return) noexcept {
        entries_[index].may_return = may_return;
    }
    /// Whether the path's group has states, so that one can be taken from an I/O's status.
    void set_reports_state(std::uint16_t index, bool reports) noexcept {
        entries_[index].reports_state = reports;
    }
    /// How long after the loss of the path a write that may still be executed waits; 0: it does not.
    void set_write_hold(std::uint16_t index, Nanoseconds hold) noexcept { entries_[index].write_hold = hold; }
    void set_policy(std::unique_ptr<IoPolicy> policy);
    [[nodiscard]] const IoPolicy& policy() const noexcept { return *policy_; }
    /// Both at once: another policy, and only these paths. For I/O that waits for a path, path_changed() must
    /// be called then.
    void steer(std::unique_ptr<IoPolicy> policy, PathSubset paths) noexcept;
    /// Lets the job use a path, or keeps new I/O away from it. Every path starts enabled.
    void enable(std::uint16_t index, bool enabled);
    [[nodiscard]] bool enabled(std::uint16_t index) const noexcept { return entries_[index].enabled; }
    /// Takes only paths of one state, following it as it changes.
    void set_filter(StateFilter filter) noexcept;

    [[nodiscard]] std::uint16_t size() const noexcept { return static_cast<std::uint16_t>(entries_.size()); }
    [[nodiscard]] const Path& path(std::uint16_t index) const noexcept { return *entries_[index].path; }
    [[nodiscard]] std::string_view name(std::uint16_t index) const noexcept { return entries_[index].name; }
    /// Paths that could take an I/O now; `min_paths=` is compared with it.
    [[nodiscard]] std::size_t usable() const noexcept;

private:
    struct Entry {
        std::string name;
        Path* path = nullptr;
        std::uint32_t distance = kLocalDistance;
        std::size_t position = kNoPath; ///< among the candidates; kNoPath when disabled
        bool enabled = true;
        bool dirty = false; ///< has submitted I/Os that flush() has not staged
        bool may_return = false;
        bool reports_state = false;
        Nanoseconds write_hold = 0;
    };

    [[nodiscard]] PathView view() const noexcept { return {candidates_, filter_}; }
    void rebuild_candidates();
    [[nodiscard]] std::size_t choose(const Request& request) noexcept;
    void give(Request& request, std::size_t position, Nanoseconds now) noexcept;
    void without_path(Request& request, Nanoseconds now) noexcept;
    [[nodiscard]] bool one_may_return() const noexcept;
    void fail_without_path(Request& request) noexcept;
    void tell_policy(const Request& request) noexcept;
    void settle(Request& request, RequestList& finished) noexcept;
    [[nodiscard]] bool goes_on(Request& request) noexcept;
    [[nodiscard]] Nanoseconds due(Request& request) noexcept;
    void take_state_from(const Request& request) noexcept;
    void send_again(Request& request, Nanoseconds now) noexcept;
    void end_hold(Request& request, Nanoseconds now) noexcept;
    void delay(Request& request, Nanoseconds due) noexcept;

    std::unique_ptr<IoPolicy> policy_;
    bool policy_hears_completions_;
    std::vector<Entry> entries_;
    std::vector<Candidate> candidates_; ///< the enabled entries
    std::vector<std::uint16_t> dirty_;  ///< indices of the dirty entries; capacity for all of them
    StateFilter filter_ = StateFilter::any;
    RetryListener& listener_;
    RetryRules rules_;
    bool gave_up_ = false;
    RequestList arrivals_;
    RequestList held_;    ///< no path was usable
    RequestList delayed_; ///< wait until their `due`
    Nanoseconds next_due_ = kNever;
};

inline void PathSet::give(Request& request, std::size_t position, Nanoseconds now) noexcept {
    const std::uint16_t index = candidates_[position].index;
    Entry& entry = entries_[index];
    if (!entry.dirty) {
        entry.dirty = true;
        dirty_.push_back(index);
    }
    request.error = 0;
    request.error_class = ErrorClass::none;
    request.protocol_status = 0;
    request.completed_at = 0;
    request.path = index;
    request.dispatched_at = now;
    entry.path->submit(request);
}

} // namespace mpath::multipath
