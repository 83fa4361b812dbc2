// SPDX-License-Identifier: GPL-2.0-only
#include "cli/path_watch.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/command.h"
#include "job/association.h"
#include "job/job_device.h"
#include "job/path_news.h"
#include "job/protocol.h"
#include "live/event_log.h"
#include "net/reactor.h"
#include "record/events.h"
#include "record/text.h"

namespace mpath::cli {
namespace {

using record::EventKind;

/// How late a signal may be noticed that came just before the reactor went to sleep.
constexpr Nanoseconds kLongestSleep = 200 * kMillisecond;

volatile std::sig_atomic_t interrupted = 0;

void interrupt(int /*signal*/) {
    interrupted = 1;
}

/// The second signal ends us at once, as usual.
void stop_on_signals() {
    struct sigaction action {};
    action.sa_handler = interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        ::sigaction(number, &action, nullptr);
    }
}

std::string_view kind_text(EventKind kind) {
    return kind == EventKind::namespace_changed ? "namespace" : to_string(kind);
}

std::string found_text(const PathFacts& facts) {
    const std::string group = facts.reports_state ? fmt::format(" (group {})", facts.group) : "";
    const std::string name = facts.state_name.empty() ? "" : fmt::format(" ({})", facts.state_name);
    return fmt::format("{}{}{}, {} bytes, at {}", to_string(facts.state), name, group, facts.limits.size,
                       facts.address);
}

/// The lives of all paths on one reactor, and what there is to tell of them.
class Watch {
public:
    Watch(net::Reactor& reactor, const std::vector<job::PathUri>& uris, const job::ConnectOptions& options,
          const job::LifeOptions& life)
        : reactor_(reactor), life_(life), news_(uris.size()), events_(std::make_unique<live::EventLog>()),
          devices_(uris.size()) {
        for (std::size_t i = 0; i < uris.size(); ++i) {
            connectors_.push_back(job::make_connector(reactor_, uris[i], options));
            paths_.push_back(std::make_unique<job::Association>(
                job::AssociationPlace{reactor_, news_, *events_, life_, devices_[i]}, *connectors_[i],
                static_cast<std::uint16_t>(i)));
        }
    }

    void start() {
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            paths_[i]->start([this, i](const Result<std::unique_ptr<PathConnection>>& connection) {
                if (connection) {
                    found(i, *(*connection)->facts());
                }
            });
        }
    }

    /// Waits a while, and prints what has happened.
    void run_once(Nanoseconds max_wait) {
        reactor_.run(max_wait);
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            news_.take_connection(i).reset(); // I/O queues are of no use here
        }
        const auto events = events_->events();
        if (events.empty()) {
            return;
        }
        for (const record::Event& event : events) {
            fmt::print("{}  p{}  {}: {}\n", record::utc_text(event.utc), event.path, kind_text(event.kind),
                       record::printable(event.text));
        }
        std::fflush(stdout);
        *events_ = live::EventLog{}; // it keeps the first ones only, and nobody else adds to it
    }

    [[nodiscard]] bool all_live() const { return all_are(job::AssociationState::live); }
    [[nodiscard]] bool all_gone() const { return all_are(job::AssociationState::gone); }

    void stop() {
        std::size_t open = paths_.size();
        for (const auto& path : paths_) {
            path->stop([&open] { --open; });
        }
        while (open > 0) {
            reactor_.run(kLongestSleep);
        }
    }

private:
    /// From here on another device behind the path is a reason not to take it back.
    void found(std::size_t path, const PathFacts& facts) {
        devices_[path] = {facts.identity, facts.limits.block_size, facts.limits.size};
        const Clock& clock = reactor_.clock();
        events_->add(clock.now(), clock.utc(), static_cast<std::uint16_t>(path), EventKind::connected,
                     found_text(facts));
    }

    [[nodiscard]] bool all_are(job::AssociationState state) const {
        return std::all_of(paths_.begin(), paths_.end(),
                           [state](const auto& path) { return path->state() == state; });
    }

    net::Reactor& reactor_;
    job::LifeOptions life_;
    job::PathNews news_;
    std::unique_ptr<live::EventLog> events_;
    std::vector<std::optional<job::JobDevice>> devices_; ///< by path; empty until it was seen
    std::vector<std::unique_ptr<job::PathConnector>> connectors_;
    std::vector<std::unique_ptr<job::Association>> paths_;
};

} // namespace

int watch_paths(const std::vector<job::PathUri>& uris, const job::ConnectOptions& options,
                const job::LifeOptions& life, Nanoseconds duration) {
    const SystemClock clock;
    const auto reactor = net::make_reactor(clock, 16);
    if (!reactor) {
        return complain(reactor.error().text);
    }
    stop_on_signals();
    for (std::size_t i = 0; i < uris.size(); ++i) {
        fmt::print("p{}  {}\n", i, job::uri_text(uris[i]));
    }
    std::fflush(stdout);
    Watch watch(**reactor, uris, options, life);
    watch.start();
    const Nanoseconds begin = clock.now();
    for (Nanoseconds passed = 0; interrupted == 0 && !watch.all_gone() && passed < duration;
         passed = clock.now() - begin) {
        watch.run_once(std::min(duration - passed, kLongestSleep));
    }
    const bool all_live = watch.all_live();
    const bool all_gone = watch.all_gone();
    watch.stop();
    return all_gone ? complain("every path was given up, there is nothing left to watch") : all_live ? 0 : 1;
}

} // namespace mpath::cli
