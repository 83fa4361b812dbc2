// SPDX-License-Identifier: GPL-2.0-only
// The path set where something went wrong: attempts that failed, I/O without a path.
#include <algorithm>
#include <utility>

#include "multipath/failure.h"
#include "multipath/path_set.h"

namespace mpath::multipath {
namespace {

/// The unit of the device's own retry delays (CRDT): what an I/O waits where nobody said how long, so that no
/// refusal is answered with the next attempt at once.
constexpr Nanoseconds kPause = 100 * kMillisecond;
constexpr unsigned kLongestPause = 3; ///< as a power of two of kPause

} // namespace

// ---- attempts that failed

void PathSet::settle(Request& request, RequestList& finished) noexcept {
    const bool attempted = request.path != kUnassigned;
    if (attempted && is_path_related(request.error_class)) {
        policy_->path_failed(entries_[request.path].position);
        take_state_from(request);
    } else if (attempted && request.error_class == ErrorClass::state_changed &&
               entries_[request.path].reports_state) {
        listener_.on_state_refused(request.path); // what it is now, this status does not say
    }
    if (!attempted || !goes_on(request)) {
        if (request.error == 0) {
            request.error = errno_of(request.error_class);
        }
        finished.push(request);
        return;
    }
    const Nanoseconds when = due(request);
    listener_.on_attempt_failed(request);
    if (when > request.completed_at) {
        delay(request, when);
    } else {
        send_again(request, request.completed_at);
    }
}

/// The device has the last word about a group's state, and says it with the I/O before its event comes.
void PathSet::take_state_from(const Request& request) noexcept {
    Entry& entry = entries_[request.path];
    const ErrorClass error = request.error_class;
    if (!entry.reports_state || (error != ErrorClass::ana_loss && error != ErrorClass::ana_inaccessible &&
                                 error != ErrorClass::ana_transition)) {
        return;
    }
    // Also when the state is not news: whoever is asked again for it may know better by now.
    entry.path->set_state(error == ErrorClass::ana_loss           ? PathState::persistent_loss
                          : error == ErrorClass::ana_inaccessible ? PathState::inaccessible
                                                                  : PathState::change);
    policy_->path_changed();
    listener_.on_state_refused(request.path);
}

bool PathSet::goes_on(Request& request) noexcept {
    if (gave_up_) {
        return false;
    }
    Trouble& trouble = request.trouble;
    const Disposition what = disposition(request.error_class, rules_);
    trouble.same_path = what == Disposition::retry;
    switch (what) {
    case Disposition::requeue:
        return trouble.pauses < rules_.max_pauses;
    case Disposition::retry:
        return trouble.retries++ < rules_.max_retries;
    default:
        return false;
    }
}

/// When to send the I/O again, and what is known of its latest attempt.
Nanoseconds PathSet::due(Request& request) noexcept {
    Trouble& trouble = request.trouble;
    const Entry& entry = entries_[request.path];
    const Nanoseconds failed_at = request.completed_at;
    trouble.happened = true;
    trouble.failed_at = failed_at;
    trouble.failed_on = request.path;
    trouble.unsure = false;
    if (trouble.same_path) {
        const Nanoseconds asked = std::exchange(request.retry_after, 0);
        return failed_at + (request.error_class != ErrorClass::busy ? 0 : asked != 0 ? asked : kPause);
    }
    if (request.error_class == ErrorClass::path_down) {
        trouble.unsure = modifies(request.operation) && std::exchange(request.maybe_executed, false);
        return failed_at + (trouble.unsure ? entry.write_hold : 0);
    }
    const std::size_t others = usable();
    if (!is_usable(entry.path->state()) || others == 0 || ++trouble.attempts < others) {
        return failed_at;
    }
    trouble.attempts = 0;
    return failed_at + (kPause << std::min<unsigned>(trouble.pauses++, kLongestPause));
}

// ---- sending again

std::size_t PathSet::choose(const Request& request) noexcept {
    const PathView paths = view();
    if (request.trouble.same_path) {
        const std::size_t position = entries_[request.trouble.failed_on].position;
        if (position != kNoPath && paths.rank(position) != PathRank::unusable) {
            return position;
        }
    }
    return policy_->select(paths, request.operation);
}

void PathSet::send_again(Request& request, Nanoseconds now) noexcept {
    Trouble& trouble = request.trouble;
    const std::size_t position = choose(request);
    if (position == kNoPath) {
        without_path(request, now);
        return;
    }
    end_hold(request, now);
    if (std::exchange(trouble.unsure, false) && entries_[trouble.failed_on].write_hold == 0) {
        listener_.on_exposed(trouble.failed_on);
    }
    give(request, position, now);
    listener_.on_sent_again(request);
}

void PathSet::end_hold(Request& request, Nanoseconds now) noexcept {
    if (request.trouble.held_since != 0) {
        listener_.on_hold_end(request, now);
        request.trouble.held_since = 0;
    }
}

void PathSet::delay(Request& request, Nanoseconds due) noexcept {
    request.trouble.due = due;
    next_due_ = std::min(next_due_, due);
    delayed_.push(request);
}

void PathSet::expire(Nanoseconds now) noexcept {
    if (now < next_due_) {
        return;
    }
    next_due_ = kNever;
    RequestList list = std::exchange(delayed_, {});
    while (Request* request = list.pop()) {
        if (request->trouble.due <= now) {
            send_again(*request, now);
        } else {
            delay(*request, request->trouble.due);
        }
    }
}

// ---- without a path

/// The kernel's nvme_available_path(): a path that is connected, in whatever state, or may be again.
bool PathSet::one_may_return() const noexcept {
    return std::any_of(candidates_.begin(), candidates_.end(), [this](const Candidate& candidate) {
        return candidate.path->live() || entries_[candidate.index].may_return;
    });
}

void PathSet::without_path(Request& request, Nanoseconds now) noexcept {
    Trouble& trouble = request.trouble;
    trouble.happened = true;
    if (!gave_up_ && one_may_return()) {
        if (trouble.held_since == 0) {
            trouble.held_since = now;
        }
        request.path = kUnassigned;
        held_.push(request);
        return;
    }
    end_hold(request, now);
    fail_without_path(request);
}

void PathSet::fail_without_path(Request& request) noexcept {
    request.path = kUnassigned;
    request.dispatched_at = 0;
    request.completed_at = 0;
    request.error_class = ErrorClass::no_path;
    request.error = errno_of(ErrorClass::no_path);
    arrivals_.push(request);
}

void PathSet::path_changed(Nanoseconds now) noexcept {
    policy_->path_changed();
    RequestList list = std::exchange(held_, {});
    while (Request* request = list.pop()) {
        send_again(*request, now);
    }
}

void PathSet::give_up(Nanoseconds now) noexcept {
    gave_up_ = true;
    next_due_ = kNever;
    for (RequestList* waiting : {&held_, &delayed_}) {
        while (Request* request = waiting->pop()) {
            without_path(*request, now);
        }
    }
}

} // namespace mpath::multipath
