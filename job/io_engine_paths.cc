// SPDX-License-Identifier: GPL-2.0-only
// The I/O engine where paths change: news of the keeper, lost connections, I/O that is sent again, deadlines.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "job/io_engine.h"
#include "multipath/failure.h"

namespace mpath::job {
namespace {

/// How long to sleep while I/O has no path, when nothing but news can wake it.
constexpr Nanoseconds kSleepWithoutPath = kMillisecond;

/// Deadlines are looked at this often, so an attempt may last that much longer.
constexpr Nanoseconds kDeadlineChecks = 16;

/// Paths whose failover gaps are told: as many as a word has bits.
constexpr std::uint16_t kTracked = 64;

} // namespace

Nanoseconds IoEngine::patience() const noexcept {
    if (!paths_.waiting()) {
        return kLongestSleep;
    }
    const Nanoseconds now = clock_.now();
    const Nanoseconds due = paths_.next_due();
    return due <= now ? 0 : std::min(kSleepWithoutPath, due - now);
}

void IoEngine::look_after_paths() noexcept {
    if (const Nanoseconds now = clock_.now(); steering_.due(now)) {
        steer(now);
    }
    if (news_.generation() != news_seen_ || returning_) {
        take_news();
    }
    if (paths_changed_) {
        paths_changed_ = false;
        paths_.path_changed(clock_.now());
    }
    if (paths_.waiting()) {
        paths_.expire(clock_.now());
    }
    if (looked_at_ >= deadlines_due_) {
        check_deadlines(looked_at_);
    }
    settled_ = !returning_ && !paths_changed_ && !paths_.waiting();
}

// ---- news of the keeper

void IoEngine::take_news() noexcept {
    news_seen_ = news_.generation();
    returning_ = false;
    for (std::uint16_t i = 0; i < paths_.size(); ++i) {
        take_news_of(i);
    }
}

void IoEngine::take_news_of(std::uint16_t index) noexcept {
    Path& path = *owned_paths_[index];
    const PathLife life = news_.life(index);
    if (life != PathLife::live) {
        if (path.live()) {
            path.close({ECONNRESET, "the controller was lost"});
        }
        if (!loss_known_[index]) {
            loss_known_[index] = true;
            gaps_.trouble(index, news_.event(index));
            steering_.disturb();
        }
        paths_.set_may_return(index, life == PathLife::connecting);
        paths_changed_ = true;
        return;
    }
    if (path.live() && news_.connection_waits(index)) {
        path.close({ECONNRESET, "the controller was lost and is connected again"});
    }
    if (!path.live()) {
        // Until all it carried has come back, the connections wait where they are.
        if (!path.closed() || path.outstanding() > 0) {
            returning_ = true;
            return;
        }
        auto connection = news_.take_connection(index);
        if (!connection) {
            return;
        }
        care_.reattach(index, std::move(connection));
        loss_known_[index] = false;
        state_asked_[index] = false;
        gaps_.well(index);
        steering_.disturb();
        paths_changed_ = true;
    }
    if (state_reports_[index] != news_.state_reports(index)) {
        state_reports_[index] = news_.state_reports(index);
        state_asked_[index] = false;
        const PathState state = news_.state(index);
        if (is_usable(state)) {
            gaps_.well(index);
        } else {
            gaps_.trouble(index, news_.event(index));
        }
        // Policies begin anew at a change, as the kernel's do, and not at every look.
        if (path.state() != state) {
            path.set_state(state);
            path_slots_[index]->set_state(state);
            steering_.disturb();
            paths_changed_ = true;
        }
    }
}

// ---- lost connections

/// From inside the reactor's run.
void IoEngine::on_path_lost(std::uint16_t index, const Error& error) noexcept {
    lose(index, error.text);
}

/// The path's connections are closing. If the keeper has not noticed, it is told.
void IoEngine::lose(std::uint16_t index, const std::string& cause) noexcept {
    settled_ = false;
    steering_.disturb();
    paths_.set_may_return(index, true); // what the keeper decides is news, and there will be some
    if (news_.claim_loss(index)) {
        const auto event =
            slot_.events.add(clock_.now(), clock_.utc(), index, record::EventKind::lost, cause);
        loss_known_[index] = true;
        gaps_.trouble(index, event);
        care_.report_lost(index, cause);
    }
    paths_changed_ = true;
}

/// An attempt that has not ended in time takes its path's connections along: nothing less makes sure that the
/// network lets go of its buffer.
void IoEngine::check_deadlines(Nanoseconds now) noexcept {
    const Nanoseconds period = io_timeout_ / kDeadlineChecks;
    const Nanoseconds late = now - deadlines_due_;
    deadlines_due_ = io_timeout_ == 0 ? multipath::kNever : now + period;
    if (io_timeout_ == 0 || late > period + kLongestSleep) {
        return; // fio was elsewhere: answers may lie in the sockets
    }
    for (const Request& request : requests_) {
        const bool on_its_way = request.dispatched_at != 0 && request.completed_at == 0 &&
                                request.path != multipath::kUnassigned &&
                                !(request.parked && request.issued_bytes == 0);
        if (!on_its_way || now < request.dispatched_at + io_timeout_) {
            continue;
        }
        Path& path = *owned_paths_[request.path];
        if (path.live()) {
            const std::string cause =
                fmt::format("no answer to an I/O within {} ms", io_timeout_ / kMillisecond);
            path.close({ETIMEDOUT, cause});
            lose(request.path, cause);
        }
    }
}

// ---- I/O that is sent again

void IoEngine::on_attempt_failed(Request& request) noexcept {
    settled_ = false;
    end_attempt(request);
    if (multipath::is_path_related(request.error_class) && request.path < kTracked) {
        const std::uint64_t bit = std::uint64_t{1} << request.path;
        if ((request.trouble.given_back & bit) == 0) {
            request.trouble.given_back |= bit;
            gaps_.gave_back(request.path);
        }
    }
}

/// The I/O has ended, well or not.
void IoEngine::end_trouble(Request& request) noexcept {
    for (std::uint64_t paths = request.trouble.given_back; paths != 0; paths &= paths - 1) {
        gaps_.returned(static_cast<std::size_t>(std::countr_zero(paths)));
    }
    request.trouble = {};
}

void IoEngine::on_sent_again(Request& request) noexcept {
    Trouble& trouble = request.trouble;
    if (trouble.failed_at != 0) {
        record::PathCounters& failed_on = path_slots_[trouble.failed_on]->counters;
        if (trouble.same_path) {
            record::on_retry(failed_on);
        } else {
            record::on_requeue(failed_on, request.dispatched_at - trouble.failed_at);
        }
    }
    record::on_dispatch(path_slots_[request.path]->counters, request.dispatched_at);
    if (unsent_++ == 0) {
        unsent_since_ = request.dispatched_at;
    }
}

void IoEngine::on_hold_end(Request& request, Nanoseconds now) noexcept {
    record::on_hold_end(slot_.counters, now - request.trouble.held_since);
}

void IoEngine::on_exposed(std::uint16_t path) noexcept {
    record::on_exposed(path_slots_[path]->counters);
    gaps_.exposed(path);
}

void IoEngine::on_state_refused(std::uint16_t path) noexcept {
    path_slots_[path]->set_state(owned_paths_[path]->state());
    steering_.disturb();
    if (!state_asked_[path]) {
        state_asked_[path] = true;
        care_.refresh_state(path);
    }
}

} // namespace mpath::job
