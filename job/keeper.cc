// SPDX-License-Identifier: GPL-2.0-only
#include "job/keeper.h"

#include <csignal>
#include <pthread.h>

#include <utility>

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

Keeper::Keeper(const Clock& clock, std::vector<PathUri> paths, ConnectOptions options, live::EventLog& events,
               Nanoseconds interval, std::function<void()> on_interval, LifeOptions life,
               std::optional<JobDevice> device)
    : clock_(clock), uris_(std::move(paths)), options_(std::move(options)), events_(events),
      interval_(interval), on_interval_(std::move(on_interval)), life_(life), device_(std::move(device)),
      news_(uris_.size()) {}

Keeper::~Keeper() {
    stop();
}

Result<std::vector<Result<std::unique_ptr<PathConnection>>>> Keeper::connect() {
    {
        const SignalsBlocked blocked;
        thread_ = std::thread([this] { run(); });
    }
    std::unique_lock lock(mutex_);
    connected_.wait(lock, [this] { return connections_.has_value(); });
    return std::move(*connections_);
}

void Keeper::hand_over(Result<std::vector<Result<std::unique_ptr<PathConnection>>>> connections) {
    const std::lock_guard lock(mutex_);
    connections_.emplace(std::move(connections));
    connected_.notify_one();
}

void Keeper::run() {
    ::pthread_setname_np(::pthread_self(), "mpath-keeper");
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
    connect_all(**reactor);
    serve(**reactor);
}

void Keeper::connect_all(net::Reactor& reactor) {
    const AssociationPlace place{reactor, news_, events_, life_, device_};
    for (std::size_t i = 0; i < uris_.size(); ++i) {
        connectors_.push_back(make_connector(reactor, uris_[i], options_));
        associations_.push_back(
            std::make_unique<Association>(place, *connectors_[i], static_cast<std::uint16_t>(i)));
    }
    // Only now: connecting is not to wait for the names of others.
    std::vector<std::optional<Result<std::unique_ptr<PathConnection>>>> results(uris_.size());
    std::size_t open = uris_.size();
    for (std::size_t i = 0; i < uris_.size(); ++i) {
        associations_[i]->start([&results, &open, i](Result<std::unique_ptr<PathConnection>> result) {
            results[i].emplace(std::move(result));
            --open;
        });
    }
    while (open > 0) {
        reactor.run(kSecond);
    }
    std::vector<Result<std::unique_ptr<PathConnection>>> connections;
    connections.reserve(results.size());
    for (auto& result : results) {
        connections.push_back(std::move(*result));
    }
    hand_over(std::move(connections));
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
        association->stop([&open] { --open; });
    }
    while (open > 0) {
        reactor.run(100 * kMillisecond);
    }
    associations_.clear();
    connectors_.clear();
}

void Keeper::report_lost(std::uint16_t path, std::string cause) {
    const std::uint32_t connection = news_.hand_overs(path);
    if (!wakeup_ || news_.connection_waits(path)) {
        return; // then the trouble is with the connection before
    }
    wakeup_->post([this, path, connection, cause = std::move(cause)] {
        if (news_.hand_overs(path) == connection && !stopping_) {
            associations_[path]->lose(cause);
        }
    });
}

void Keeper::refresh_state(std::uint16_t path) {
    if (wakeup_) {
        wakeup_->post([this, path] {
            if (!stopping_) {
                associations_[path]->refresh_state();
            }
        });
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
