// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/controller.h"

#include <algorithm>

#include "net/async.h"
#include "nvme/controller_enable.h"

namespace mpath::nvme {
namespace {

/// TCP's patience with a peer where no keep-alive timeout says how long a silence may last: the kernel's for
/// an I/O (nvme_core.io_timeout).
constexpr Nanoseconds kSilence = 30 * kSecond;
/// Bounds of what RTD3E may ask for, the kernel's (nvme_init_identify).
constexpr Nanoseconds kMinShutdown = 5 * kSecond;
constexpr Nanoseconds kMaxShutdown = 60 * kSecond;

} // namespace

std::string_view to_string(ControllerState state) {
    switch (state) {
    case ControllerState::connecting:
        return "connecting";
    case ControllerState::enabling:
        return "enabling";
    case ControllerState::identifying:
        return "identifying";
    case ControllerState::live:
        return "live";
    case ControllerState::shutting_down:
        return "shutting down";
    case ControllerState::closed:
        return "closed";
    case ControllerState::lost:
        return "lost";
    }
    return "?";
}

Controller::Controller(net::Reactor& reactor, Uri uri, ControllerOptions options)
    : reactor_(reactor), uri_(std::move(uri)), options_(std::move(options)) {
    facts_.subsystem_nqn = uri_.subnqn;
    set_state(ControllerState::connecting);
}

net::Task<Result<std::unique_ptr<Controller>>> Controller::connect(net::Reactor& reactor, Uri uri,
                                                                   ControllerOptions options) {
    Result<std::vector<net::SocketAddress>> addresses = net::resolve(uri.host, uri.port);
    if (!addresses) {
        co_return tl::unexpected<Error>(addresses.error());
    }
    co_return co_await connect_to(reactor, std::move(uri), std::move(*addresses), std::move(options),
                                  nullptr);
}

net::Task<Result<std::unique_ptr<Controller>>>
Controller::connect_to(net::Reactor& reactor, Uri uri, std::vector<net::SocketAddress> addresses,
                       ControllerOptions options, net::Cancellation* cancellation) {
    std::unique_ptr<Controller> controller(new Controller(reactor, std::move(uri), std::move(options)));
    controller->addresses_ = std::move(addresses);
    controller->cancellation_ = cancellation;
    const Nanoseconds deadline = reactor.clock().now() + controller->options_.connect_timeout;
    const Result<void> up = co_await controller->bring_up(deadline);
    if (!up) {
        co_await controller->close();
        co_return tl::unexpected<Error>(up.error());
    }
    co_return std::move(controller);
}

net::Task<Result<std::vector<ConnectedQueue>>> Controller::connect_io_queues(Nanoseconds deadline) {
    std::vector<ConnectedQueue> queues;
    for (std::uint16_t id = 1; id <= facts_.io_queues; ++id) {
        ConnectRequest request;
        request.subsystem_nqn = uri_.subnqn;
        request.host = options_.host;
        request.queue_id = id;
        request.queue_size = facts_.queue_size;
        request.controller_id = facts_.controller_id;
        request.socket = options_.socket;
        request.pdu = options_.pdu;
        request.silence = silence_limit();
        request.cancellation = cancellation_;
        Result<ConnectedQueue> queue = co_await connect_queue(reactor_, addresses_, request, deadline);
        if (!queue) {
            co_return failure_in(fmt::format("I/O queue {} of {}", id, facts_.io_queues), queue.error());
        }
        queue->parameters.in_capsule = facts_.in_capsule;
        queues.push_back(std::move(*queue));
    }
    co_return std::move(queues);
}

Nanoseconds Controller::silence_limit() const noexcept {
    return options_.keep_alive_ms == 0 ? kSilence : options_.keep_alive_ms * kMillisecond;
}

Controller::Statistics Controller::statistics() const noexcept {
    Statistics statistics = statistics_;
    statistics.keep_alives = keep_alive_ ? keep_alive_->answered() : 0;
    return statistics;
}

// ---- its end

void Controller::set_state(ControllerState state) {
    transitions_.push_back({state, reactor_.clock().now()});
}

void Controller::stop_timers() {
    if (keep_alive_) {
        keep_alive_->stop();
    }
    for (std::optional<net::TimerQueue::Id>* timer : {&state_timer_, &transition_timer_}) {
        if (*timer) {
            reactor_.timers().cancel(**timer);
            timer->reset();
        }
    }
}

void Controller::fail(Error reason) noexcept {
    if (!admin_->closing()) {
        admin_->fail(std::move(reason));
    }
}

void Controller::queue_closed(const Error& error) {
    stop_timers();
    if (state() == ControllerState::closed || state() == ControllerState::shutting_down) {
        return;
    }
    const bool was_live = state() == ControllerState::live;
    set_state(ControllerState::lost);
    loss_ = {error.code, fmt::format("{}: {}", facts_.address, error.text)};
    if (was_live && listener_ != nullptr) {
        listener_->on_lost(loss_);
    }
}

net::Task<int> Controller::shutdown(Nanoseconds deadline) {
    int code = ENOTCONN;
    if (state() == ControllerState::live) {
        set_state(ControllerState::shutting_down);
        stop_timers();
        const Nanoseconds patience = std::clamp(identity_.shutdown_time, kMinShutdown, kMaxShutdown);
        const Nanoseconds until = std::min(deadline, reactor_.clock().now() + patience);
        const Result<void> done = co_await shut_down_controller(*admin_, configuration_, until);
        code = done ? 0 : done.error().code;
    }
    co_await close();
    co_return code;
}

net::Task<int> Controller::close() {
    if (state() != ControllerState::lost && state() != ControllerState::closed) {
        set_state(ControllerState::closed);
    }
    stop_timers();
    if (admin_) {
        co_await admin_->close();
    }
    co_return 0;
}

} // namespace mpath::nvme
