// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job/path_link.h"
#include "tests/unit/job/fake_connection.h"

namespace mpath::job::test {

/// What a link is told, and what it says when a test wants it to.
struct LinkScript {
    LinkListener* listener = nullptr; ///< of the link that is live; nullptr: none is
    PathFacts facts;
    PathState state = PathState::optimized;
    int refreshes = 0;
    int ended = 0;
    Nanoseconds end_takes = 0;

    void lose(const std::string& why) { std::exchange(listener, nullptr)->on_lost({ECONNRESET, why}); }
};

/// One attempt to connect: how long it takes and how it ends.
struct Attempt {
    Nanoseconds takes = 0;
    Error refusal{0, {}}; ///< code 0: it connects
};

/// Does as the script says, attempt by attempt; those beyond it end like the last one.
class ScriptedConnector final : public PathConnector {
public:
    ScriptedConnector(net::Reactor& reactor, std::deque<Attempt> attempts)
        : reactor_(reactor), attempts_(std::move(attempts)) {}

    LinkScript script;
    std::vector<Nanoseconds> begun; ///< when each attempt began

    void then(std::deque<Attempt> attempts) { attempts_ = std::move(attempts); }

    net::Task<Result<LinkedPath>> connect(net::Cancellation& cancellation) override {
        begun.push_back(reactor_.clock().now());
        const Attempt attempt = attempts_.front();
        if (attempts_.size() > 1) {
            attempts_.pop_front();
        }
        if (attempt.takes > 0) {
            net::Event<int> over;
            const auto timer = reactor_.timers().add(begun.back() + attempt.takes, [&over] { over.set(0); });
            const net::Cancellation::Hook hook(&cancellation, [&over] { over.set(ECANCELED); });
            const int code = co_await over;
            reactor_.timers().cancel(timer);
            if (code != 0) {
                co_return failure(code, "given up");
            }
        }
        if (attempt.refusal.code != 0) {
            co_return tl::unexpected<Error>(attempt.refusal);
        }
        LinkedPath path;
        path.link = std::make_unique<Link>(reactor_, script);
        path.connection = std::make_unique<FakeConnection>(script.facts);
        co_return std::move(path);
    }

    net::Task<Result<std::shared_ptr<const PathFacts>>> look(net::Cancellation& /*cancellation*/) override {
        co_return std::make_shared<const PathFacts>(script.facts);
    }

private:
    class Link final : public PathLink {
    public:
        Link(net::Reactor& reactor, LinkScript& script) : reactor_(reactor), script_(script) {}

        [[nodiscard]] const PathFacts& facts() const noexcept override { return script_.facts; }
        [[nodiscard]] PathState state() const noexcept override { return script_.state; }
        [[nodiscard]] std::string_view state_name() const noexcept override { return {}; }
        void start(LinkListener& listener) override { script_.listener = &listener; }
        void refresh_state() override { ++script_.refreshes; }
        void fail(Error reason) noexcept override { script_.lose(reason.text); }
        net::Task<int> end(Nanoseconds) override {
            script_.listener = nullptr;
            co_await net::sleep_until(reactor_, reactor_.clock().now() + script_.end_takes);
            ++script_.ended;
            co_return 0;
        }

    private:
        net::Reactor& reactor_;
        LinkScript& script_;
    };

    net::Reactor& reactor_;
    std::deque<Attempt> attempts_;
};

} // namespace mpath::job::test
