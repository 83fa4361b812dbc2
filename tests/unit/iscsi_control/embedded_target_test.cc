// SPDX-License-Identifier: GPL-2.0-only
// The initiator against the embedded target, which reads the standards on its own account.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "target/server.h"
#include "tests/unit/iscsi_control/control_fixture.h"

namespace mpath::iscsi::test {
namespace {

using testing::SizeIs;

/// Two portals on loopback ports, served by a thread.
class ServedTarget {
public:
    explicit ServedTarget(target::Options options, std::string_view script = {}) {
        options.listeners.resize(2);
        for (target::ListenerOptions& listener : options.listeners) {
            listener.protocol = target::Protocol::iscsi;
        }
        server_ = std::move(*target::Server::create(*target::checked(options), clock_));
        EXPECT_TRUE(server_->take_script(script, "test"));
        thread_ = std::thread([this] { server_->run(); });
    }
    ServedTarget(const ServedTarget&) = delete;
    ServedTarget& operator=(const ServedTarget&) = delete;
    ~ServedTarget() {
        server_->stop();
        thread_.join();
    }

    [[nodiscard]] net::SocketAddress portal(std::size_t listener) const {
        const std::string& address = server_->listeners()[listener]->address;
        const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
        return net::resolve("127.0.0.1", port)->front();
    }

private:
    SystemClock clock_;
    std::unique_ptr<target::Server> server_;
    std::thread thread_;
};

class EmbeddedPortals : public ControlTest {
protected:
    EmbeddedPortals() { target_name_ = target::IscsiOptions().name; }
    Connected connect_portal(const ServedTarget& target, std::size_t portal) {
        return net::run_until_done(*reactor_, connecting(target.portal(portal)));
    }
    Result<std::vector<LoggedIn>> io_sessions(ControlSession& session) {
        return net::run_until_done(*reactor_, session.log_in_io_sessions(clock_.now() + 10 * kSecond));
    }
    /// Unit attentions that TEST UNIT READY brings.
    int attentions_of(LoggedIn logged_in) {
        int count = 0;
        CommandSession::News news;
        news.on_attention = [&count](const Sense&) { ++count; };
        CommandSession session(*reactor_, std::move(logged_in), Lun{}, std::move(news));
        const auto done =
            net::run_until_done(*reactor_, session.execute(Cdb{}, Transfer::none, {},
                                                           clock_.now() + 10 * kSecond, "TEST UNIT READY"));
        EXPECT_TRUE(done && done->good());
        net::run_until_done(*reactor_, session.close());
        return count;
    }
};

TEST_F(EmbeddedPortals, two_portals_are_two_paths_to_one_device) {
    const ServedTarget target({}, "on p1 ana non-optimized");
    auto a = connect_portal(target, 0);
    auto b = connect_portal(target, 1);
    ASSERT_TRUE(a) << a.error().text;
    ASSERT_TRUE(b) << b.error().text;
    EXPECT_EQ((*a)->facts().identity, (*b)->facts().identity);
    EXPECT_EQ((*a)->facts().limits, (*b)->facts().limits);
    EXPECT_EQ((*a)->facts().limits.size, target::Options().size);
    EXPECT_NE((*a)->facts().group, (*b)->facts().group);
    EXPECT_EQ((*a)->facts().state, PathState::optimized);
    EXPECT_EQ((*b)->facts().state, PathState::non_optimized);
    EXPECT_EQ((*a)->facts().transition_limit, target::Options().anatt * kSecond);
    EXPECT_EQ(log_out(**a), 0);
    EXPECT_EQ(log_out(**b), 0);
}

TEST_F(EmbeddedPortals, comes_up_in_every_state) {
    const std::pair<const char*, PathState> rows[] = {
        {"standby", PathState::inaccessible},
        {"unavailable", PathState::inaccessible},
        {"offline", PathState::inaccessible},
        {"transitioning", PathState::change},
    };
    for (const auto& [word, state] : rows) {
        const ServedTarget target({}, std::string("on p0 ana ") + word);
        auto session = connect_portal(target, 0);
        ASSERT_TRUE(session) << session.error().text;
        EXPECT_EQ((*session)->facts().state, state);
        EXPECT_EQ((*session)->facts().state_name, word);
        EXPECT_TRUE(io_sessions(**session));
        EXPECT_EQ(log_out(**session), 0);
    }
}

/// The power-on unit attention has gone to TEST UNIT READY, so no I/O will meet it.
TEST_F(EmbeddedPortals, gives_io_sessions_that_have_heard_the_news) {
    for (const bool digests : {false, true}) {
        options_.header_digest = options_.data_digest = digests;
        options_.io_queues = 3;
        const ServedTarget target({});
        auto session = connect_portal(target, 0);
        ASSERT_TRUE(session) << session.error().text;
        auto sessions = io_sessions(**session);
        ASSERT_TRUE(sessions) << sessions.error().text;
        ASSERT_THAT(*sessions, SizeIs(3));
        std::set<Isid> isids{isid(isids_, 0)};
        for (LoggedIn& one : *sessions) {
            isids.insert(one.isid);
            EXPECT_EQ(one.parameters.header_digest, digests);
            EXPECT_EQ(attentions_of(std::move(one)), 0);
        }
        EXPECT_THAT(isids, SizeIs(4)) << "an I_T nexus each";
        EXPECT_EQ(log_out(**session), 0);
    }
}

/// A target that has not noticed that a session is gone ends it for the one that takes its place.
TEST_F(EmbeddedPortals, a_session_that_comes_back_takes_the_place_of_the_old_one) {
    const ServedTarget target({});
    auto old = connect_portal(target, 0);
    ASSERT_TRUE(old) << old.error().text;
    (*old)->start(listener_);
    auto back = connect_portal(target, 0);
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_TRUE(run_until([this] { return !listener_.losses.empty(); }));
    EXPECT_NE(log_out(**old), 0);
    EXPECT_EQ(log_out(**back), 0);
}

} // namespace
} // namespace mpath::iscsi::test
