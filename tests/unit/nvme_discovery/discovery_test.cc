// SPDX-License-Identifier: GPL-2.0-only
// Discovery against the embedded target, which reads the standard on its own account.
#include "nvme/discovery.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "net/async.h"
#include "nvme/controller.h"
#include "tests/unit/nvme_discovery/running_target.h"

namespace mpath::nvme::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

target::Options with_listeners(std::size_t count) {
    target::Options options;
    options.listeners.resize(count);
    return options;
}

target::ListenerOptions at(std::uint16_t port) {
    target::ListenerOptions address;
    address.port = port;
    return address;
}

/// A port of 127.0.0.1 where nobody listens for as long as this lives.
class ClosedPort {
public:
    ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size);
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        number_ = ntohs(address.sin_port);
    }
    [[nodiscard]] std::uint16_t number() const { return number_; }
    /// For somebody else to listen on.
    std::uint16_t release() {
        socket_.reset();
        return number_;
    }

private:
    UniqueFd socket_;
    std::uint16_t number_ = 0;
};

std::vector<std::string> ports_of(const Discovery& found) {
    std::vector<std::string> texts;
    for (const DiscoveredPort& port : found.ports) {
        texts.push_back(port.entry.text());
    }
    return texts;
}

class DiscoveryTest : public testing::Test {
protected:
    DiscoveryTest() {
        options_.host.nqn = "nqn.2014-08.org.nvmexpress:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427";
        options_.host.id.fill(0x5a);
        options_.timeout = 20 * kSecond;
    }
    Result<Discovery> ask(std::vector<std::uint16_t> ports, std::string host = "127.0.0.1") {
        return net::run_until_done(*reactor_,
                                   discover(*reactor_, std::move(host), std::move(ports), options_));
    }
    /// What must be found.
    Discovery found_at(const RunningTarget& target) {
        auto found = ask({target.port()});
        EXPECT_TRUE(found) << found.error().text;
        return found ? std::move(*found) : Discovery();
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_ = std::move(*net::make_reactor(clock_, 8));
    BriefOptions options_;
};

TEST_F(DiscoveryTest, finds_every_listener_whichever_is_asked) {
    const RunningTarget target(with_listeners(5)); // seven kilobytes of log: two commands for the entries
    for (const std::size_t listener : {0U, 4U}) {
        const auto found = ask({target.port(listener)});
        ASSERT_TRUE(found) << found.error().text;
        EXPECT_THAT(found->services, ElementsAre(target.address(listener)));
        EXPECT_THAT(ports_of(*found), ElementsAre(target.address(0), target.address(1), target.address(2),
                                                  target.address(3), target.address(4)));
        EXPECT_EQ(found->ports.front().entry.subnqn, target::Options().subnqn);
        EXPECT_EQ(found->ports.front().told_by, target.address(listener));
        EXPECT_THAT(found->warnings, IsEmpty());
    }
}

TEST_F(DiscoveryTest, takes_a_listener_that_serves_discovery_alone_for_no_port_of_the_subsystem) {
    target::Options options = with_listeners(2);
    options.discovery.listeners.resize(1);
    const RunningTarget target(options);
    const auto found = ask({target.port(2)});
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_THAT(ports_of(*found), ElementsAre(target.address(0), target.address(1)));

    ControllerOptions connecting;
    connecting.host = options_.host;
    connecting.connect_timeout = 20 * kSecond;
    const Uri uri{"127.0.0.1", target.port(2), options.subnqn, 1};
    const auto controller = net::run_until_done(*reactor_, Controller::connect(*reactor_, uri, connecting));
    ASSERT_FALSE(controller);
    EXPECT_EQ(controller.error().code, ENODEV) << controller.error().text;
}

TEST_F(DiscoveryTest, tries_the_next_port_when_nothing_answers_at_the_first) {
    const ClosedPort closed;
    const RunningTarget target(with_listeners(1));
    const auto found = ask({closed.number(), target.port()});
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_THAT(found->services, ElementsAre(target.address()));
}

TEST_F(DiscoveryTest, fails_with_a_sentence_about_each_port_when_nothing_answers_at_all) {
    const ClosedPort first;
    const ClosedPort second;
    const auto found = ask({first.number(), second.number()});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ECONNREFUSED);
    EXPECT_THAT(found.error().text, HasSubstr(std::to_string(first.number())));
    EXPECT_THAT(found.error().text, HasSubstr(std::to_string(second.number())));
}

TEST_F(DiscoveryTest, asks_each_service_of_a_loop_once) {
    ClosedPort later;
    target::Options a = with_listeners(2);
    a.discovery.referrals = {at(later.number())};
    RunningTarget first(a);
    target::Options b = with_listeners(1);
    b.subnqn = "nqn.2014-08.org.example:other";
    b.listeners[0].port = later.release();
    b.discovery.referrals = {at(first.port(0)), at(b.listeners[0].port)}; // back, and to itself
    RunningTarget second(b);
    const Discovery found = found_at(first);
    EXPECT_THAT(found.services, ElementsAre(first.address(), second.address()));
    EXPECT_THAT(ports_of(found), ElementsAre(first.address(0), first.address(1), second.address()));
    EXPECT_EQ(found.ports[2].entry.subnqn, b.subnqn);
    EXPECT_EQ(found.ports[2].told_by, second.address());
    EXPECT_THAT(found.warnings, IsEmpty());
    first.stop();
    second.stop();
    EXPECT_EQ(first.discoveries(), 1U);
    EXPECT_EQ(second.discoveries(), 1U);
}

TEST_F(DiscoveryTest, follows_a_chain_of_referrals_to_a_bounded_depth) {
    std::vector<std::unique_ptr<RunningTarget>> chain; // the last link first
    for (unsigned i = 0; i < kMaxReferralDepth + 3; ++i) {
        target::Options options = with_listeners(1);
        options.size = 1 << 20;
        if (!chain.empty()) {
            options.discovery.referrals = {at(chain.back()->port())};
        }
        chain.push_back(std::make_unique<RunningTarget>(options));
    }
    const Discovery found = found_at(*chain.back());
    EXPECT_THAT(found.services, SizeIs(1 + kMaxReferralDepth));
    ASSERT_THAT(found.warnings, SizeIs(1));
    EXPECT_THAT(found.warnings.front(), HasSubstr("more than 8 referrals away"));
}

TEST_F(DiscoveryTest, goes_on_when_a_referral_leads_nowhere) {
    const ClosedPort closed;
    const RunningTarget other(with_listeners(1));
    target::Options options = with_listeners(1);
    options.discovery.referrals = {at(closed.number()), at(other.port())};
    const RunningTarget target(options);
    const Discovery found = found_at(target);
    EXPECT_THAT(ports_of(found), ElementsAre(target.address(), other.address()));
    ASSERT_THAT(found.warnings, SizeIs(1));
    EXPECT_THAT(found.warnings.front(), HasSubstr(std::to_string(closed.number())));
    EXPECT_THAT(found.warnings.front(), HasSubstr("Connection refused"));
}

TEST_F(DiscoveryTest, takes_an_address_that_is_listed_twice_for_one) {
    target::Options options = with_listeners(2);
    options.discovery.duplicates = true;
    const RunningTarget target(options);
    const Discovery found = found_at(target);
    EXPECT_THAT(ports_of(found), ElementsAre(target.address(0), target.address(1)));
    EXPECT_EQ(found.ports[0].entry.flags, eflags::kDuplicateReturnedInformation);
}

TEST_F(DiscoveryTest, reads_a_log_again_that_changes_meanwhile) {
    target::Options options = with_listeners(5);
    options.discovery.moves = 5;
    const RunningTarget target(options);
    EXPECT_THAT(found_at(target).ports, SizeIs(5));
}

TEST_F(DiscoveryTest, gives_up_on_a_log_that_never_stands_still) {
    target::Options options = with_listeners(1);
    options.discovery.moves = 1000;
    const RunningTarget target(options);
    const auto found = ask({target.port()});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, EAGAIN);
    EXPECT_THAT(found.error().text, HasSubstr("changed each of the 8 times it was read"));
}

TEST_F(DiscoveryTest, lists_ports_that_require_tls_with_what_stands_against_them) {
    target::Options options = with_listeners(1);
    options.discovery.tls = true;
    const RunningTarget target(options);
    const Discovery found = found_at(target);
    ASSERT_THAT(found.ports, SizeIs(1));
    EXPECT_TRUE(found.ports[0].entry.requires_tls());
    EXPECT_THAT(found.ports[0].entry.obstacle(), HasSubstr("requires TLS"));
}

TEST_F(DiscoveryTest, resolves_names) {
    const RunningTarget target(with_listeners(1));
    const auto found = ask({target.port()}, "localhost");
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_THAT(ports_of(*found), ElementsAre(target.address()));
}

TEST_F(DiscoveryTest, says_so_when_a_name_can_not_be_resolved) {
    const auto found = ask({8009, 4420}, "no-such-host.invalid");
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().text, HasSubstr("no-such-host.invalid"));
}

TEST_F(DiscoveryTest, finds_ipv6_ports) {
    target::Options options = with_listeners(1);
    options.listeners[0].address = "::1";
    SystemClock clock;
    if (!target::Server::create(options, clock)) {
        GTEST_SKIP() << "this machine has no IPv6";
    }
    const RunningTarget target(options);
    const auto found = ask({target.port()}, "::1");
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_THAT(ports_of(*found), ElementsAre("[::1]:" + std::to_string(target.port())));
}

} // namespace
} // namespace mpath::nvme::test
