// SPDX-License-Identifier: GPL-2.0-only
#include "job/keeper.h"

#include <csignal>
#include <pthread.h>

#include <utility>

#include "net/async.h"

namespace mpath::job {
namespace {

constexpr unsigned kOperationsPerPath = 4;

/// fio's signals are for fio's threads.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

} // namespace

/// One path's controller, and the listener to it.
class Keeper::Association final : public nvme::ControllerListener {
public:
    Association(Keeper& keeper, std::uint16_t index) : keeper_(keeper), index_(index) {}

    net::Task<Result<PathConnection>> connect(net::Reactor& reactor) {
        auto controller =
            co_await nvme::Controller::connect(reactor, keeper_.uris_[index_], keeper_.options_);
        if (!controller) {
            co_return tl::unexpected<Error>(controller.error());
        }
        controller_ = std::move(*controller);
        auto queues =
            co_await controller_->connect_io_queues(reactor.clock().now() + keeper_.options_.connect_timeout);
        if (!queues) {
            co_await controller_->shutdown(reactor.clock().now() + nvme::kShutdownPatience);
            controller_.reset();
            co_return tl::unexpected<Error>(queues.error());
        }
        co_return PathConnection{controller_->facts(), std::move(*queues)};
    }
    void start() {
        if (controller_) {
            keeper_.news_.set_state(index_, controller_->path_state());
            controller_->start(*this);
        }
    }
    void lose(const std::string& cause) {
        if (controller_) {
            on_lost({ECONNRESET, cause});
        }
    }
    net::Task<int> shut_down(net::Reactor& reactor) {
        if (!controller_) {
            co_return 0;
        }
        co_return co_await controller_->shutdown(reactor.clock().now() + nvme::kShutdownPatience);
    }

private:
    void on_path_state(PathState state) noexcept override {
        add_event(record::EventKind::state,
                  fmt::format("{} -> {}", to_string(keeper_.news_.state(index_)), to_string(state)));
        keeper_.news_.set_state(index_, state);
    }
    void on_event(std::string text) noexcept override { add_event(record::EventKind::state, text); }
    void on_lost(const Error& error) noexcept override {
        if (keeper_.news_.claim_loss(index_)) {
            add_event(record::EventKind::lost, error.text);
        }
        keeper_.news_.set_life(index_, PathLife::gone);
    }
    void add_event(record::EventKind kind, std::string_view text) {
        keeper_.events_.add(keeper_.clock_.now(), keeper_.clock_.utc(), index_, kind, text);
    }

    Keeper& keeper_;
    std::uint16_t index_;
    std::unique_ptr<nvme::Controller> controller_;
};

Keeper::Keeper(const Clock& clock, std::vector<nvme::Uri> paths, nvme::ControllerOptions options,
               live::EventLog& events, Nanoseconds interval, std::function<void()> on_interval,
               LifeOptions life)
    : clock_(clock), uris_(std::move(paths)), options_(std::move(options)), events_(events),
      interval_(interval), on_interval_(std::move(on_interval)), life_(life), news_(uris_.size()) {}

Keeper::~Keeper() {
    stop();
}

Result<std::vector<Result<PathConnection>>> Keeper::connect() {
    {
        const SignalsBlocked blocked;
        thread_ = std::thread([this] { run(); });
    }
    std::unique_lock lock(mutex_);
    connected_.wait(lock, [this] { return connections_.has_value(); });
    return std::move(*connections_);
}

void Keeper::run() {
    ::pthread_setname_np(::pthread_self(), "mpath-keeper");
    const auto hand_over = [this](Result<std::vector<Result<PathConnection>>> connections) {
        const std::lock_guard lock(mutex_);
        connections_.emplace(std::move(connections));
        connected_.notify_one();
    };
    auto reactor = net::make_reactor(clock_, kOperationsPerPath * static_cast<unsigned>(uris_.size()));
    if (!reactor) {
        hand_over(tl::unexpected<Error>(reactor.error()));
        return;
    }
    auto wakeup = net::Wakeup::create(**reactor);
    if (!wakeup) {
        hand_over(tl::unexpected<Error>(wakeup.error()));
        return;
    }
    wakeup_ = std::move(*wakeup);

    std::vector<std::optional<Result<PathConnection>>> results(uris_.size());
    std::size_t open = uris_.size();
    for (std::size_t i = 0; i < uris_.size(); ++i) {
        associations_.push_back(std::make_unique<Association>(*this, static_cast<std::uint16_t>(i)));
        net::spawn<Result<PathConnection>>(associations_[i]->connect(**reactor),
                                           [&results, &open, i](Result<PathConnection> result) {
                                               results[i].emplace(std::move(result));
                                               --open;
                                           });
    }
    while (open > 0) {
        (*reactor)->run(kSecond);
    }
    for (const auto& association : associations_) {
        association->start();
    }
    std::vector<Result<PathConnection>> connections;
    connections.reserve(results.size());
    for (auto& result : results) {
        connections.push_back(std::move(*result));
    }
    hand_over(std::move(connections));
    serve(**reactor);
}

void Keeper::arm_interval(net::Reactor& reactor, Nanoseconds due) {
    reactor.timers().add(due, [this, &reactor, due] {
        on_interval_();
        // A late interval does not shorten the next ones, and none is made up for.
        const Nanoseconds now = clock_.now();
        arm_interval(reactor, due + interval_ > now ? due + interval_ : now + interval_);
    });
}

void Keeper::serve(net::Reactor& reactor) {
    arm_interval(reactor, clock_.now() + interval_);
    while (!stopping_) {
        reactor.run(kSecond);
    }
    std::size_t open = associations_.size();
    for (const auto& association : associations_) {
        net::spawn<int>(association->shut_down(reactor), [&open](int) { --open; });
    }
    while (open > 0) {
        reactor.run(100 * kMillisecond);
    }
    associations_.clear();
}

void Keeper::report_lost(std::uint16_t path, std::string cause) {
    if (wakeup_) {
        wakeup_->post([this, path, cause = std::move(cause)] { associations_[path]->lose(cause); });
    }
}

void Keeper::refresh_state(std::uint16_t path) {
    if (wakeup_) {
        wakeup_->post([this, path] { news_.set_state(path, news_.state(path)); });
    }
}

void Keeper::stop() {
    if (!thread_.joinable()) {
        return;
    }
    if (wakeup_) {
        wakeup_->post([this] { stopping_ = true; });
    }
    thread_.join();
    wakeup_.reset();
}

} // namespace mpath::job
