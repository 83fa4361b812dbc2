// SPDX-License-Identifier: GPL-2.0-only
// What a controller has to say while it lives: events, the ANA log, changes of the namespace. NVM Express
// Base Specification, "Asynchronous Event Request command" and "Asymmetric Namespace Access".
#include <algorithm>

#include "nvme/admin_command.h"
#include "nvme/controller.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

/// For commands while the association is live: the kernel's admin timeout.
constexpr Nanoseconds kAdminTimeout = 60 * kSecond;
/// From a failed read of the ANA log to the next; doubled up to the second. The event that announced the
/// change may be cleared by then, so that nothing else would have it read.
constexpr Nanoseconds kFirstPause = kSecond;
/// How often the state of a path of no use is looked at where there is no keep-alive timeout to go by.
constexpr Nanoseconds kUnusableCheck = 5 * kSecond;
constexpr Nanoseconds kLongestPause = 30 * kSecond;
/// For a controller that does not say how long a transition may last (ANATT 0), though it must.
constexpr std::uint32_t kTransitionSeconds = 10;
constexpr std::size_t kChangedNamespacesSize = 4096;

/// What there is to say of an event itself; nothing where what it is about will be looked at and told.
std::string event_text(AsyncEvent event) {
    switch (event.dw0 & 0xffffff) {
    case AsyncEvent::kAnaChanged:
    case AsyncEvent::kNamespaceAttributeChanged:
        return {};
    default:
        return fmt::format("asynchronous event of type {}, information {:02x}h, log page {:02x}h",
                           event.type(), event.info(), event.page());
    }
}

/// Bytes to read of a log page so that its event may come again; 0 for a page this initiator doesn't know.
std::size_t bytes_that_clear(std::uint8_t page) {
    switch (page) {
    case log_page::kError:
        return kErrorLogEntrySize;
    case log_page::kSmart:
        return sizeof(SmartLog);
    default:
        return 0;
    }
}

} // namespace

// ---- events

void Controller::start(LinkListener& listener) {
    listener_ = &listener;
    if (state() == ControllerState::lost) {
        listener_->on_lost(loss_);
        return;
    }
    net::spawn<int>(watch_event(), [](int) {});
    set_path_state(path_state_);
    // A change after the log was read, and before the request above, need not come as an event.
    wanted_.state = facts_.reports_state;
    attend_soon();
}

/// One Asynchronous Event Request; ends with the queue. Like every task that nobody waits for, it waits for
/// nothing but commands: once the queue is closed, it has ended.
net::Task<int> Controller::watch_event() {
    const Sqe sqe = async_event_request();
    const Result<Completion> done = co_await admin_->execute(sqe, Transfer::none, {}, AdminQueue::kNoDeadline,
                                                             "Asynchronous Event Request");
    if (!done) {
        co_return 0;
    }
    if (!done->status.ok()) {
        listener_->on_event(fmt::format("the controller reports no events, it refuses Asynchronous Event "
                                        "Request with {}",
                                        status_text(done->status)));
        co_return 0;
    }
    ++statistics_.events;
    net::spawn<int>(watch_event(),
                    [](int) {}); // before anything else: some targets forget what nobody awaits
    take_event(AsyncEvent{done->dw0});
    co_return 0;
}

void Controller::take_event(AsyncEvent event) {
    if (std::string text = event_text(event); !text.empty()) {
        listener_->on_event(std::move(text));
    }
    switch (event.page()) {
    case log_page::kAna:
        wanted_.state = true;
        break;
    case log_page::kChangedNamespaces:
        wanted_.name_space = true;
        break;
    default:
        if (bytes_that_clear(event.page()) != 0) {
            wanted_.pages.push_back(event.page());
        }
        break;
    }
    attend_soon();
}

void Controller::refresh_state() {
    wanted_.state = wanted_.state_asked = true;
    attend_soon();
}

void Controller::attend_soon() {
    if (!attending_ && state() == ControllerState::live) {
        attending_ = true;
        net::spawn<int>(attend(), [](int) {});
    }
}

/// One thing after the other, until nothing is wanted any more.
net::Task<int> Controller::attend() {
    while (wanted_.any() && state() == ControllerState::live && !admin_->closing()) {
        if (std::exchange(wanted_.state, false)) {
            co_await update_path_state();
        } else if (std::exchange(wanted_.name_space, false)) {
            co_await look_at_namespace();
        } else {
            const std::uint8_t page = wanted_.pages.back();
            wanted_.pages.pop_back();
            co_await read_log(page, bytes_that_clear(page));
        }
    }
    attending_ = false;
    co_return 0;
}

/// For nothing but that its event may come again.
net::Task<int> Controller::read_log(std::uint8_t page, std::size_t length) {
    std::vector<std::byte> log(length);
    const Sqe sqe = get_log_page(page, 0, length, false);
    co_await admin_->execute(sqe, Transfer::to_host, log, reactor_.clock().now() + kAdminTimeout,
                             "Get Log Page");
    co_return 0;
}

// ---- ANA

net::Task<int> Controller::update_path_state() {
    const bool asked = std::exchange(wanted_.state_asked, false);
    if (!facts_.reports_state) {
        if (!std::exchange(told_of_no_ana_, true)) {
            listener_->on_event("the controller speaks of ANA states but does not report ANA");
        }
        if (asked) {
            listener_->on_path_state(path_state_, {});
        }
        co_return 0;
    }
    const Result<PathState> read = co_await read_path_state(reactor_.clock().now() + kAdminTimeout);
    if (admin_->closing()) {
        co_return 0;
    }
    if (read) {
        state_failure_.clear();
        state_pause_ = 0;
    } else {
        state_unread(read.error());
    }
    const PathState state = read ? *read : path_state_;
    const bool changed = state != path_state_;
    set_path_state(state);
    if (read && !is_usable(state)) {
        read_state_again(facts_.keep_alive_ms != 0 ? facts_.keep_alive_ms * kMillisecond : kUnusableCheck);
    }
    // Whoever has asked meanwhile may know more than this answer: the read that follows is for them.
    if (changed || (asked && !wanted_.state_asked)) {
        listener_->on_path_state(state, {});
    }
    co_return 0;
}

/// The limit of a transition is twice ANATT, which leaves the target some slack: so does Linux
/// (nvme_read_ana_log()). It counts from when the group entered it, and no read in between begins it anew.
void Controller::set_path_state(PathState state) {
    path_state_ = state;
    if (state != PathState::change && transition_timer_) {
        reactor_.timers().cancel(*std::exchange(transition_timer_, std::nullopt));
    } else if (state == PathState::change && !transition_timer_) {
        transition_timer_ = reactor_.timers().add(reactor_.clock().now() + transition_limit(), [this] {
            transition_timer_.reset();
            fail({ETIMEDOUT, fmt::format("ANA group {} is in the state change for {} s, twice ANATT",
                                         facts_.group, transition_limit() / kSecond)});
        });
    }
}

Nanoseconds Controller::transition_limit() const noexcept {
    return 2 * kSecond * (facts_.anatt_seconds != 0 ? facts_.anatt_seconds : kTransitionSeconds);
}

void Controller::state_unread(const Error& error) {
    if (state_failure_ != error.text) {
        state_failure_ = error.text;
        listener_->on_event(fmt::format("{}; the path stays {}", error.text, to_string(path_state_)));
    }
    state_pause_ = state_pause_ == 0 ? kFirstPause : std::min(2 * state_pause_, kLongestPause);
    read_state_again(state_pause_);
}

/// Also while nothing is wrong but that the path is of no use: I/O no longer tells how it is, and a target
/// may have lost the event that says it is usable again.
void Controller::read_state_again(Nanoseconds pause) {
    if (state_timer_) {
        reactor_.timers().cancel(*state_timer_);
    }
    state_timer_ = reactor_.timers().add(reactor_.clock().now() + pause, [this] {
        state_timer_.reset();
        wanted_.state = true;
        attend_soon();
    });
}

// ---- the namespace

/// Which namespaces changed, the log says; but it may have overflowed, and not every controller has it. How
/// ours is now, only Identify tells, and that is asked in any case.
net::Task<int> Controller::look_at_namespace() {
    co_await read_log(log_page::kChangedNamespaces, kChangedNamespacesSize);
    const Nanoseconds deadline = reactor_.clock().now() + kAdminTimeout;
    const Result<void> there = co_await find_namespace(deadline);
    if (!there && !admin_->closing()) {
        if (there.error().code == ENODEV) {
            lose_namespace(fmt::format("namespace {} was removed", uri_.nsid));
        } else {
            listener_->on_event(there.error().text);
        }
    }
    if (!there || admin_->closing()) {
        co_return 0;
    }
    const Result<NamespaceLook> look = co_await identify_namespace(deadline);
    if (admin_->closing()) {
        co_return 0;
    }
    if (look) {
        compare_namespace(*look);
    } else if (look.error().code == EIO) { // refused: nothing is known but that
        listener_->on_event(look.error().text);
    } else {
        lose_namespace(look.error().text);
    }
    co_return 0;
}

void Controller::compare_namespace(const NamespaceLook& look) {
    const DeviceLimits& now = look.facts.limits;
    const DeviceLimits before = facts_.limits;
    if (look.identity != facts_.identity) {
        lose_namespace(fmt::format("namespace {} is another device now ({}, before {})", uri_.nsid,
                                   look.identity.text(), facts_.identity.text()));
        return;
    }
    if (now.block_size != before.block_size) {
        lose_namespace(fmt::format("namespace {} was formatted: it has blocks of {} bytes, before of {}",
                                   uri_.nsid, now.block_size, before.block_size));
        return;
    }
    facts_.limits = now;
    if (now.size != before.size) {
        listener_->on_device_changed(fmt::format("resized from {} to {} bytes", before.size, now.size));
    }
    if (look.facts.ana_group != facts_.group) {
        facts_.group = look.facts.ana_group;
        wanted_.state = facts_.reports_state;
    }
}

void Controller::lose_namespace(std::string cause) {
    listener_->on_device_changed(cause);
    fail({ENODEV, std::move(cause)});
}

} // namespace mpath::nvme
