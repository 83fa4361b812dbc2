// SPDX-License-Identifier: GPL-2.0-only
#include "job/association.h"

#include <utility>

namespace mpath::job {
namespace {

constexpr std::string_view kFinal = "given up: what the target says is final";

double seconds(Nanoseconds time) {
    return static_cast<double>(time) / kSecond;
}

std::string_view plural(std::uint64_t count) {
    return count == 1 ? "" : "s";
}

} // namespace

std::string_view to_string(AssociationState state) {
    switch (state) {
    case AssociationState::connecting:
        return "connecting";
    case AssociationState::live:
        return "live";
    case AssociationState::closing:
        return "closing";
    case AssociationState::waiting:
        return "waiting";
    case AssociationState::gone:
        return "gone";
    case AssociationState::ended:
        return "ended";
    }
    return "?";
}

Association::Association(const AssociationPlace& place, PathConnector& connector, std::uint16_t path)
    : place_(place), connector_(connector), path_(path), size_(place.device ? place.device->size : 0) {}

void Association::start(std::function<void(Result<std::unique_ptr<PathConnection>>)> first) {
    running_ = true;
    net::spawn<int>(run(std::move(first)), [this](int) {
        running_ = false;
        if (on_ended_) {
            std::exchange(on_ended_, nullptr)();
        }
    });
}

void Association::lose(std::string cause) {
    if (state_ == AssociationState::live && !stopping_) {
        link_->fail({ECONNRESET, std::move(cause)});
    }
}

void Association::refresh_state() {
    if (state_ == AssociationState::live && !stopping_) {
        link_->refresh_state();
    } else {
        place_.news.set_state(path_, place_.news.state(path_));
    }
}

void Association::stop(std::function<void()> ended) {
    stopping_ = true;
    if (!running_) {
        ended();
        return;
    }
    on_ended_ = std::move(ended);
    cancellation_.request();
    wake();
}

// ---- the course of it

net::Task<int> Association::run(std::function<void(Result<std::unique_ptr<PathConnection>>)> first) {
    Result<std::unique_ptr<PathConnection>> connection = co_await attempt();
    bool up = connection.has_value();
    if (up) {
        tell_device(*(*connection)->facts());
    } else if (!stopping_) {
        tell_refusal(connection.error());
        begin_outage();
        if (connection.error().final && state_ != AssociationState::gone) {
            give_up(kFinal);
        }
    }
    first(std::move(connection));
    while (!stopping_ && state_ != AssociationState::gone) {
        if (up) {
            co_await stay_live();
        }
        up = co_await reconnect();
    }
    end_outage();
    if (link_) {
        co_await link_->end(now() + kEndPatience);
        link_.reset();
    }
    if (stopping_) {
        set_state(AssociationState::ended);
    }
    co_return 0;
}

/// Until the path is lost or the job ends.
net::Task<int> Association::stay_live() {
    set_state(AssociationState::live);
    net::Event<int>& over = wake_.emplace();
    link_->start(*this);
    co_await over;
    if (!stopping_) {
        co_await link_->end(now());
        link_.reset();
    }
    co_return 0;
}

/// True: the path is up again. False: it is gone, or the job ends.
net::Task<bool> Association::reconnect() {
    while (!stopping_ && state_ != AssociationState::gone) {
        const auto due = outage_->next(now());
        if (!due) {
            give_up(fmt::format("given up after {:.1f} s and {} attempt{} (ctrl_loss_tmo)",
                                seconds(now() - outage_->lost_at()), outage_->attempts(),
                                plural(outage_->attempts())));
            break;
        }
        set_state(AssociationState::waiting);
        co_await pause_until(*due);
        if (stopping_) {
            break;
        }
        set_state(AssociationState::connecting);
        Result<std::unique_ptr<PathConnection>> connection = co_await attempt();
        if (stopping_) {
            break;
        }
        if (connection) {
            come_back(std::move(*connection));
            co_return true;
        }
        tell_refusal(connection.error());
        if (connection.error().final) {
            give_up(kFinal);
        }
    }
    co_return false;
}

net::Task<Result<std::unique_ptr<PathConnection>>> Association::attempt() {
    Result<LinkedPath> linked = co_await connector_.connect(cancellation_);
    if (!linked) {
        co_return tl::unexpected<Error>(linked.error());
    }
    if (place_.device) {
        const Result<void> right = check_leads_to(*place_.device, *linked->connection->facts());
        if (!right) {
            const std::string address = linked->connection->facts()->address;
            linked->connection.reset();
            co_await linked->link->end(now() + kEndPatience);
            co_return failure_in(address, right.error());
        }
    }
    link_ = std::move(linked->link);
    co_return std::move(linked->connection);
}

net::Task<int> Association::pause_until(Nanoseconds due) {
    net::Event<int>& over = wake_.emplace();
    const net::TimerQueue::Id timer = place_.reactor.timers().add(due, [this] { wake(); });
    co_await over;
    place_.reactor.timers().cancel(timer);
    co_return 0;
}

void Association::wake() {
    if (wake_ && !wake_->is_set()) {
        wake_->set(0);
    }
}

// ---- loss and return

void Association::on_lost(const Error& error) noexcept {
    // Queues of it that the I/O thread has not taken yet are of no use to it.
    static_cast<void>(place_.news.take_connection(path_));
    if (place_.news.claim_loss(path_)) {
        place_.news.set_event(path_, add_event(record::EventKind::lost, error.text));
    }
    set_state(AssociationState::closing);
    begin_outage();
    wake();
}

void Association::begin_outage() {
    outage_.emplace(place_.life, now());
    if (place_.life.ctrl_loss_tmo == Nanoseconds{0}) {
        give_up("given up at once (ctrl_loss_tmo=0)");
        return;
    }
    const auto failing_at = outage_->failing_at();
    if (failing_at && *failing_at <= now()) {
        fail_io();
        return;
    }
    place_.news.set_life(path_, PathLife::connecting);
    if (failing_at) {
        failing_timer_ = place_.reactor.timers().add(*failing_at, [this] {
            failing_timer_.reset();
            fail_io();
        });
    }
}

void Association::end_outage() {
    cancel_failing();
    outage_.reset();
}

void Association::cancel_failing() {
    if (failing_timer_) {
        place_.reactor.timers().cancel(*std::exchange(failing_timer_, std::nullopt));
    }
}

void Association::fail_io() {
    add_event(record::EventKind::failing,
              fmt::format("I/O no longer waits for it after {:.1f} s (fast_io_fail_tmo)",
                          seconds(now() - outage_->lost_at())));
    place_.news.set_life(path_, PathLife::failing);
}

/// The same one after the other is told once.
void Association::tell_refusal(const Error& error) {
    if (error.text != refusal_) {
        refusal_ = error.text;
        add_event(record::EventKind::refused, refusal_);
    }
}

void Association::give_up(std::string_view text) {
    set_state(AssociationState::gone);
    add_event(record::EventKind::given_up, text);
    place_.news.set_life(path_, PathLife::gone);
    cancel_failing();
}

void Association::come_back(std::unique_ptr<PathConnection> connection) {
    refusal_.clear();
    add_event(record::EventKind::connected,
              fmt::format("after {:.1f} s and {} attempt{}", seconds(now() - outage_->lost_at()),
                          outage_->attempts(), plural(outage_->attempts())));
    end_outage();
    tell_device(*connection->facts());
    place_.news.hand_over(path_, std::move(connection));
}

/// What has changed since it was seen last; at first there is nothing to compare with.
void Association::tell_device(const PathFacts& facts) {
    if (size_ != 0 && facts.limits.size != 0 && facts.limits.size != size_) {
        add_event(record::EventKind::namespace_changed,
                  fmt::format("resized from {} to {} bytes", size_, facts.limits.size));
    }
    if (facts.limits.size != 0) {
        size_ = facts.limits.size;
    }
    if (std::exchange(was_up_, true)) {
        on_path_state(link_->state(), link_->state_name());
    } else {
        place_.news.set_state(path_, link_->state());
    }
}

// ---- while it lives

void Association::on_path_state(PathState state, std::string_view name) noexcept {
    const PathState before = place_.news.state(path_);
    if (state != before) {
        place_.news.set_event(path_, add_event(record::EventKind::state,
                                               fmt::format("{} -> {}{}", to_string(before), to_string(state),
                                                           name.empty() ? "" : fmt::format(" ({})", name))));
    }
    place_.news.set_state(path_, state);
}

void Association::on_device_changed(std::string text) noexcept {
    size_ = link_->facts().limits.size;
    add_event(record::EventKind::namespace_changed, text);
}

void Association::on_event(std::string text) noexcept {
    add_event(record::EventKind::state, text);
}

void Association::set_state(AssociationState state) {
    state_ = state;
}

live::EventLog::Handle Association::add_event(record::EventKind kind, std::string_view text) {
    const Clock& clock = place_.reactor.clock();
    return place_.events.add(clock.now(), clock.utc(), path_, kind, text);
}

} // namespace mpath::job
