// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/controller.h"

#include <algorithm>

#include "net/async.h"
#include "nvme/admin_command.h"
#include "nvme/controller_enable.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

/// For commands while the association is live: the kernel's admin timeout.
constexpr Nanoseconds kAdminTimeout = 60 * kSecond;
/// Bounds of what RTD3E may ask for, the kernel's (nvme_init_identify).
constexpr Nanoseconds kMinShutdown = 5 * kSecond;
constexpr Nanoseconds kMaxShutdown = 60 * kSecond;

std::string event_text(AsyncEvent event) {
    switch (event.dw0 & 0xffffff) {
    case AsyncEvent::kAnaChanged:
        return "the ANA log changed";
    case AsyncEvent::kNamespaceAttributeChanged:
        return "a namespace's attributes changed";
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
    case log_page::kChangedNamespaces:
        return 4096;
    default:
        return 0;
    }
}

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
    std::unique_ptr<Controller> controller(new Controller(reactor, std::move(uri), std::move(options)));
    Result<std::vector<net::SocketAddress>> addresses =
        net::resolve(controller->uri_.host, controller->uri_.port);
    if (!addresses) {
        co_return tl::unexpected<Error>(addresses.error());
    }
    controller->addresses_ = std::move(*addresses);
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
        Result<ConnectedQueue> queue = co_await connect_queue(reactor_, addresses_, request, deadline);
        if (!queue) {
            co_return failure_in(fmt::format("I/O queue {} of {}", id, facts_.io_queues), queue.error());
        }
        queue->parameters.in_capsule = facts_.in_capsule;
        queues.push_back(std::move(*queue));
    }
    co_return std::move(queues);
}

// ---- while it lives

void Controller::start(ControllerListener& listener) {
    listener_ = &listener;
    if (state() == ControllerState::lost) {
        listener_->on_lost(loss_);
        return;
    }
    net::spawn<int>(watch_events(), [](int) {});
}

/// Keeps one Asynchronous Event Request outstanding, until the queue closes. Like every task that nobody
/// waits for, it waits for nothing but commands: once the queue is closed, it has ended.
net::Task<int> Controller::watch_events() {
    for (;;) {
        const Sqe sqe = async_event_request();
        const Result<Completion> done = co_await admin_->execute(
            sqe, Transfer::none, {}, AdminQueue::kNoDeadline, "Asynchronous Event Request");
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
        co_await handle_event(AsyncEvent{done->dw0});
    }
}

/// Reads the log that the event is about, without which it would not come again.
net::Task<int> Controller::handle_event(AsyncEvent event) {
    listener_->on_event(event_text(event));
    if (event.page() == log_page::kAna) {
        co_return co_await refresh_path_state();
    }
    const std::size_t length = bytes_that_clear(event.page());
    if (length != 0) {
        std::vector<std::byte> log(length);
        const Sqe sqe = get_log_page(event.page(), 0, length, false);
        co_await admin_->execute(sqe, Transfer::to_host, log, reactor_.clock().now() + kAdminTimeout,
                                 "Get Log Page");
    }
    co_return 0;
}

net::Task<int> Controller::refresh_path_state() {
    if (!facts_.ana_reporting) {
        listener_->on_event("the controller announces a change of ANA but does not report ANA");
        co_return 0;
    }
    const Result<PathState> state = co_await read_path_state(reactor_.clock().now() + kAdminTimeout);
    if (admin_->closing()) {
        co_return 0;
    }
    if (!state) {
        listener_->on_event(fmt::format("{}; the path stays {}", state.error().text, to_string(path_state_)));
    } else if (*state != path_state_) {
        path_state_ = *state;
        listener_->on_path_state(path_state_);
    }
    co_return 0;
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

void Controller::queue_closed(const Error& error) {
    if (keep_alive_) {
        keep_alive_->stop();
    }
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
    if (keep_alive_) {
        keep_alive_->stop();
    }
    if (admin_) {
        co_await admin_->close();
    }
    co_return 0;
}

} // namespace mpath::nvme
