// SPDX-License-Identifier: GPL-2.0-only
// The keeper's thread with the embedded target at the other end.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/job/keeper_fixture.h"

namespace mpath::job::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

using record::EventKind;

TEST_F(KeeperTest, brings_a_path_back_whose_target_was_away) {
    auto target = std::make_unique<OneTarget>();
    const nvme::Uri uri = target->uri();
    ASSERT_TRUE(connect({uri})[0]);
    target.reset();
    ASSERT_TRUE(wait_until([this] { return keeper_->news().life(0) == PathLife::connecting; }));
    target = std::make_unique<OneTarget>(uri.port);
    ASSERT_TRUE(wait_until([this] { return waits(0); }));
    EXPECT_EQ(keeper_->news().life(0), PathLife::live);
    const auto connection = keeper_->news().take_connection(0);
    ASSERT_NE(connection, nullptr);
    EXPECT_THAT(connection->sockets(), SizeIs(1));
    EXPECT_EQ(connection->facts()->limits.size, 1U << 20);
    EXPECT_EQ(kinds().front(), EventKind::lost);
    EXPECT_EQ(kinds().back(), EventKind::connected);
}

TEST_F(KeeperTest, takes_a_path_in_that_was_not_there_at_the_start) {
    const OneTarget here;
    auto there = std::make_unique<OneTarget>();
    const nvme::Uri uri = there->uri();
    there.reset();
    const auto connections = connect({here.uri(), uri});
    ASSERT_TRUE(connections[0]);
    ASSERT_FALSE(connections[1]);
    EXPECT_EQ(keeper_->news().life(1), PathLife::connecting);
    there = std::make_unique<OneTarget>(uri.port);
    ASSERT_TRUE(wait_until([this] { return waits(1); }));
    EXPECT_EQ(keeper_->news().life(0), PathLife::live);
}

TEST_F(KeeperTest, connects_anew_what_the_io_thread_has_lost) {
    const OneTarget target;
    ASSERT_TRUE(connect({target.uri()})[0]);
    keeper_->report_lost(0, "an I/O connection broke");
    ASSERT_TRUE(wait_until([this] { return waits(0); }));
    EXPECT_THAT(events_->events().front().text, HasSubstr("an I/O connection broke"));
}

/// It is about the queues before, which the I/O thread still has.
TEST_F(KeeperTest, ignores_a_late_report) {
    const OneTarget target;
    ASSERT_TRUE(connect({target.uri()})[0]);
    keeper_->report_lost(0, "an I/O connection broke");
    ASSERT_TRUE(wait_until([this] { return waits(0); }));
    keeper_->report_lost(0, "another one broke");
    const std::uint32_t reports = keeper_->news().state_reports(0);
    keeper_->refresh_state(0); // whose answer comes after the report was looked at
    ASSERT_TRUE(wait_until([this, reports] { return keeper_->news().state_reports(0) != reports; }));
    EXPECT_TRUE(waits(0));
    EXPECT_EQ(keeper_->news().hand_overs(0), 1U);
}

TEST_F(KeeperTest, answers_a_request_for_the_state) {
    const OneTarget target;
    ASSERT_TRUE(connect({target.uri()})[0]);
    const std::uint32_t reports = keeper_->news().state_reports(0);
    keeper_->refresh_state(0);
    EXPECT_TRUE(wait_until([this, reports] { return keeper_->news().state_reports(0) > reports; }));
}

TEST_F(KeeperTest, a_device_that_is_not_the_jobs_is_no_path) {
    const OneTarget target;
    const JobDevice other{
        {DeviceIdentity::Kind::uuid, "11111111-2222-3333-4444-555555555555"}, 4096, 1 << 20};
    keeper_ = std::make_unique<Keeper>(
        clock_, std::vector<PathUri>{target.uri()}, options_, *events_, kSecond, [] {}, life_, other);
    const auto connections = keeper_->connect();
    ASSERT_TRUE(connections);
    ASSERT_FALSE((*connections)[0]);
    EXPECT_THAT((*connections)[0].error().text, HasSubstr("it leads to another device now"));
}

TEST_F(KeeperTest, a_name_that_nobody_knows_is_final) {
    const OneTarget target;
    nvme::Uri nowhere = target.uri();
    nowhere.host = "no such host";
    const auto connections = connect({nowhere, target.uri()});
    EXPECT_FALSE(connections[0]);
    EXPECT_TRUE(connections[1]);
    EXPECT_EQ(keeper_->news().life(0), PathLife::gone);
}

/// Somebody who accepts connections and says nothing.
class Mute {
public:
    Mute() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto address = net::resolve("127.0.0.1", 0)->front();
        ::bind(socket_.get(), address.get(), address.length);
        ::listen(socket_.get(), 64);
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length);
        const std::string text = address.text();
        port_ = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    UniqueFd socket_;
    std::uint16_t port_ = 0;
};

TEST_F(KeeperTest, ends_while_a_path_is_being_connected) {
    const Mute mute;
    const OneTarget target;
    nvme::Uri uri = target.uri();
    uri.port = mute.port();
    options_.nvme.connect_timeout = kSecond;
    const auto connections = connect({uri, target.uri()});
    EXPECT_FALSE(connections[0]);
    EXPECT_TRUE(connections[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // an attempt is under way
    keeper_->stop();
    EXPECT_EQ(keeper_->news().life(1), PathLife::live);
}

/// The target drops who is silent for longer than the keep-alive timeout.
TEST_F(KeeperTest, keeps_one_path_alive_while_another_hangs) {
    const Mute mute;
    const OneTarget target;
    nvme::Uri uri = target.uri();
    uri.port = mute.port();
    options_.nvme.connect_timeout = 300 * kMillisecond;
    options_.nvme.keep_alive_ms = 2000; // a starved machine must not be silent that long
    std::atomic<int> intervals = 0;
    keeper_ = std::make_unique<Keeper>(
        clock_, std::vector<PathUri>{uri, target.uri()}, options_, *events_, 50 * kMillisecond,
        [&intervals] { ++intervals; }, life_);
    ASSERT_TRUE(keeper_->connect());
    ASSERT_TRUE(wait_until([&intervals] { return intervals >= 60; }));
    EXPECT_EQ(keeper_->news().life(0), PathLife::connecting);
    EXPECT_EQ(keeper_->news().life(1), PathLife::live);
    EXPECT_THAT(kinds(), testing::Each(EventKind::refused));
    keeper_->stop();
}

} // namespace
} // namespace mpath::job::test
