// SPDX-License-Identifier: GPL-2.0-only
// What a control session does while it lives: asks whether the target is there and what is new, and looks at
// what changed. SPC-4, "Asymmetric logical unit access"; the actions are those of Linux's scsi_dh_alua.
#include <algorithm>
#include <array>
#include <utility>

#include "iscsi/control_session.h"

namespace mpath::iscsi {
namespace {

/// Between looks at a group in transition: doubled up to the second.
constexpr Nanoseconds kFirstTransitionPause = 100 * kMillisecond;
constexpr Nanoseconds kLongestTransitionPause = 2 * kSecond;
/// How often a path of no use is looked at, at least: it gets no I/O that would tell that it is back, and its
/// target tells nobody on its own.
constexpr Nanoseconds kUnusableCheck = 2 * kSecond;
constexpr Nanoseconds kNever = 24 * 3600 * kSecond;

} // namespace

void ControlSession::start(LinkListener& listener) {
    listener_ = &listener;
    if (loss_) {
        listener_->on_lost(*loss_);
        return;
    }
    if (!state_failure_.empty()) {
        listener_->on_event(fmt::format("{}; it has no states then", state_failure_));
    }
    set_state(state_);
    watching_ = true;
    woken_ = true;
    net::spawn<int>(watch(), [this](int) {
        watching_ = false;
        watched_.set(0);
    });
}

void ControlSession::refresh_state() {
    wanted_.state = state_asked_ = true;
    wake();
}

void ControlSession::fail(const Error& reason) noexcept {
    session_->fail(reason);
}

void ControlSession::wake() {
    woken_ = true;
    if (wake_ && !wake_->is_set()) {
        wake_->set(0);
    }
}

/// Half the timeout, so that a lost session is noticed within one and a half of it.
Nanoseconds ControlSession::period() const noexcept {
    if (path_state() == PathState::change) {
        return transition_pause_;
    }
    const Nanoseconds usual =
        options_.keep_alive_ms == 0 ? kNever : options_.keep_alive_ms * kMillisecond / 2;
    return is_usable(path_state()) ? usual : std::min(usual, kUnusableCheck);
}

net::Task<int> ControlSession::pause() {
    if (std::exchange(woken_, false)) {
        co_return 0;
    }
    net::Event<int>& over = wake_.emplace();
    const net::TimerQueue::Id timer = reactor_.timers().add(now() + period(), [&over] {
        if (!over.is_set()) {
            over.set(0);
        }
    });
    co_await over;
    reactor_.timers().cancel(timer);
    woken_ = false;
    co_return 0;
}

/// One thing after the other, until the session is over.
net::Task<int> ControlSession::watch() {
    while (!stopping_ && !session_->closing()) {
        co_await pause();
        if (!stopping_ && !session_->closing()) {
            co_await look();
        }
    }
    co_return 0;
}

net::Task<int> ControlSession::look() {
    if (asked_to_leave_) {
        co_await session_->log_out(now() + patience());
        session_->fail({ESHUTDOWN, "the target asked to log out"});
        co_return 0;
    }
    const Nanoseconds deadline = now() + patience();
    const Result<void> alive = co_await session_->ping(deadline);
    if (!alive) {
        co_return 0;
    }
    co_await ask_ready(deadline);
    wanted_.state = true;
    while (wanted_.any() && !stopping_ && !session_->closing()) {
        if (std::exchange(wanted_.identity, false)) {
            co_await update_identity(deadline);
        } else if (std::exchange(wanted_.state, false)) {
            co_await update_state(deadline);
        } else {
            wanted_.capacity = false;
            co_await update_capacity(deadline);
        }
    }
    co_return 0;
}

// ---- the state of our port's group

net::Task<int> ControlSession::update_state(Nanoseconds deadline) {
    const bool asked = std::exchange(state_asked_, false);
    Result<AluaState> read = ready_state_;
    if (facts_.reports_state) {
        read = co_await read_state(deadline);
    }
    if (session_->closing()) {
        co_return 0;
    }
    const std::string failure = read ? "" : read.error().text;
    if (!failure.empty() && failure != state_failure_) {
        listener_->on_event(fmt::format("{}; the path stays {}", failure, to_string(path_state())));
    }
    state_failure_ = failure;
    const AluaState state = read ? *read : state_;
    const bool changed = state != state_;
    const bool was_unusable = !is_usable(path_state());
    set_state(state);
    if (changed && was_unusable && is_usable(path_state()) && facts_.limits.size == 0) {
        wanted_.capacity = true; // now it can say
    }
    // Whoever has asked meanwhile may know more than this answer: the read that follows is for them.
    if (changed || (asked && !state_asked_)) {
        listener_->on_path_state(path_state(), state_name());
    }
    co_return 0;
}

/// The limit of a transition counts from when the group entered it, and no look in between begins it anew.
void ControlSession::set_state(AluaState state) {
    state_ = state;
    if (path_state() != PathState::change) {
        transition_pause_ = kFirstTransitionPause;
        if (transition_timer_) {
            reactor_.timers().cancel(*std::exchange(transition_timer_, std::nullopt));
        }
        return;
    }
    transition_pause_ = std::min(2 * transition_pause_, kLongestTransitionPause);
    if (!transition_timer_) {
        transition_pause_ = kFirstTransitionPause;
        transition_timer_ = reactor_.timers().add(now() + facts_.transition_limit, [this] {
            transition_timer_.reset();
            fail({ETIMEDOUT, fmt::format("target port group {} is in transition for {} s", facts_.group,
                                         facts_.transition_limit / kSecond)});
        });
    }
}

// ---- the unit

net::Task<int> ControlSession::update_capacity(Nanoseconds deadline) {
    const DeviceLimits before = facts_.limits;
    const Result<void> measured = co_await measure(deadline);
    if (session_->closing()) {
        co_return 0;
    }
    const DeviceLimits& after = facts_.limits;
    if (!measured && measured.error().code == EMEDIUMTYPE) {
        lose_unit(measured.error().text);
    } else if (!measured) {
        listener_->on_event(measured.error().text);
    } else if (before.size != 0 && after.block_size != before.block_size) {
        lose_unit(fmt::format("LUN {} was formatted: it has blocks of {} bytes, before of {}", uri_.lun,
                              after.block_size, before.block_size));
    } else if (before.size != 0 && after.size != before.size) {
        listener_->on_device_changed(fmt::format("resized from {} to {} bytes", before.size, after.size));
    }
    co_return 0;
}

net::Task<int> ControlSession::update_identity(Nanoseconds deadline) {
    const Result<InquiryFacts> inquiry = co_await find_unit(deadline);
    if (session_->closing()) {
        co_return 0;
    }
    if (!inquiry && inquiry.error().code == EIO) { // refused: nothing is known but that
        listener_->on_event(inquiry.error().text);
        co_return 0;
    }
    if (!inquiry) {
        lose_unit(inquiry.error().code == ENODEV ? fmt::format("LUN {} was removed", uri_.lun)
                                                 : inquiry.error().text);
        co_return 0;
    }
    const Result<Identification> found = co_await read_identification(deadline);
    if (session_->closing()) {
        co_return 0;
    }
    if (!found) {
        listener_->on_event(found.error().text);
    } else if (found->identity != facts_.identity) {
        lose_unit(fmt::format("LUN {} is another device now ({}, before {})", uri_.lun,
                              found->identity.text(), facts_.identity.text()));
    }
    co_return 0;
}

void ControlSession::lose_unit(std::string cause) {
    listener_->on_device_changed(cause);
    fail({ENODEV, std::move(cause)});
}

// ---- what the target says unasked

void ControlSession::heard(const AsyncEvent& event) {
    switch (event.event) {
    case async_event::kScsi:
        want(attention_of(parse_sense(scsi_status::kCheckCondition, event.sense)));
        wake();
        break;
    case async_event::kLogoutRequest:
    case async_event::kNegotiate: // who does not negotiate again may log out
        asked_to_leave_ = true;
        wake();
        break;
    case async_event::kDropConnection:
    case async_event::kDropAllConnections:
        fail({ECONNRESET, "the target announced that it drops the connection"});
        break;
    default:
        if (listener_ != nullptr) {
            listener_->on_event(fmt::format("asynchronous message {}", event.event));
        }
        break;
    }
}

} // namespace mpath::iscsi
