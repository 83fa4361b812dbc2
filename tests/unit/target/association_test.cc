// SPDX-License-Identifier: GPL-2.0-only
// From Connect to the end of an association, as a host sees it.
#include <bit>
#include <optional>

#include <gtest/gtest.h>

#include "nvme/wire/log_page.h"
#include "peer.h"

namespace mpath::target {
namespace {

using nvme::StatusCode;
namespace admin_opcode = nvme::admin_opcode;

nvme::Cqe feature(Peer& admin, std::uint8_t opcode, std::uint32_t cdw10, std::uint32_t cdw11 = 0) {
    nvme::Sqe sqe = admin_command(opcode, 5);
    sqe.cdw10 = cdw10;
    sqe.cdw11 = cdw11;
    admin.capsule(sqe);
    return admin.completion();
}

TEST(TargetAssociation, NothingWorksBeforeConnect) {
    Bench bench;
    Peer peer(bench);
    peer.ic_req();
    peer.capsule(admin_command(admin_opcode::kIdentify, 1));
    EXPECT_EQ(status_of(peer.completion()), StatusCode::command_sequence_error);
    EXPECT_EQ(status_of(peer.set_cc(kEnableController)), StatusCode::command_sequence_error);
    EXPECT_EQ(status_of(peer.connect(0, 0xffff)), StatusCode::success) << "the connection goes on";
    EXPECT_EQ(status_of(peer.connect(0, 0xffff)), StatusCode::command_sequence_error) << "but connects once";
}

TEST(TargetAssociation, AdminCommandsNeedAnEnabledController) {
    Bench bench;
    Peer peer(bench);
    peer.ic_req();
    peer.connect(0, 0xffff);
    EXPECT_EQ(status_of(feature(peer, admin_opcode::kGetFeatures, 7)), StatusCode::command_sequence_error);
    EXPECT_EQ(status_of(peer.set_cc(kEnableController)), StatusCode::success);
    EXPECT_EQ(status_of(feature(peer, admin_opcode::kGetFeatures, 7)), StatusCode::success);
}

TEST(TargetAssociation, PropertiesAreReadOverTheAdminQueue) {
    Bench bench;
    Association host(bench);
    nvme::PropertyGetCommand get;
    get.offset = nvme::property::kCap;
    get.attributes = static_cast<std::uint8_t>(nvme::PropertySize::bytes8);
    host.admin.capsule(std::bit_cast<nvme::Sqe>(get));
    const auto cqe = host.admin.completion();
    const nvme::Capabilities cap{(std::uint64_t{cqe.dw1} << 32) | cqe.dw0};
    EXPECT_EQ(cap.mqes(), 1023);
    host.io.capsule(std::bit_cast<nvme::Sqe>(get));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::invalid_opcode);
}

TEST(TargetAssociation, GrantsAsManyQueuesAsThereAre) {
    Options options = Bench::small();
    options.io_queues = 4;
    Bench bench(options);
    Peer admin(bench);
    admin.ic_req();
    admin.connect(0, 0xffff);
    admin.set_cc(kEnableController);
    EXPECT_EQ(feature(admin, admin_opcode::kSetFeatures, 7, (1U << 16) | 1U).dw0, (1U << 16) | 1U);
    EXPECT_EQ(feature(admin, admin_opcode::kSetFeatures, 7, (63U << 16) | 63U).dw0, (3U << 16) | 3U);
    EXPECT_EQ(feature(admin, admin_opcode::kGetFeatures, 7).dw0, (3U << 16) | 3U);
    EXPECT_EQ(status_of(feature(admin, admin_opcode::kSetFeatures, 7, 0xffff)), StatusCode::invalid_field);
}

TEST(TargetAssociation, RemembersWhichEventsTheHostWants) {
    Bench bench;
    Association host(bench);
    feature(host.admin, admin_opcode::kSetFeatures, nvme::feature::kAsyncEventConfiguration, 0x900);
    EXPECT_EQ(feature(host.admin, admin_opcode::kGetFeatures, nvme::feature::kAsyncEventConfiguration).dw0,
              0x900U);
    EXPECT_EQ(status_of(feature(host.admin, admin_opcode::kSetFeatures, 0x42)), StatusCode::invalid_field);
}

TEST(TargetAssociation, HoldsFourEventRequests) {
    Bench bench;
    Association host(bench);
    for (std::uint16_t cid = 100; cid < 104; ++cid) {
        host.admin.capsule(admin_command(admin_opcode::kAsyncEventRequest, cid));
    }
    EXPECT_FALSE(host.admin.receive());
    host.admin.capsule(admin_command(admin_opcode::kAsyncEventRequest, 104));
    EXPECT_EQ(status_of(host.admin.completion()), StatusCode::async_event_limit_exceeded);
}

TEST(TargetAssociation, AbortSaysThatNothingWasAborted) {
    Bench bench;
    Association host(bench);
    EXPECT_EQ(feature(host.admin, admin_opcode::kAbort, 1).dw0, 1U);
}

TEST(TargetAssociation, EndsWhenTheHostIsSilent) {
    Bench bench;
    Peer admin(bench);
    admin.ic_req();
    const auto id = static_cast<std::uint16_t>(admin.connect(0, 0xffff, 31, 0, 2000).dw0);
    admin.set_cc(kEnableController);
    Peer io(bench);
    io.ic_req();
    EXPECT_EQ(status_of(io.connect(1, id)), StatusCode::success);

    bench.now += 2 * kSecond;
    admin.capsule(admin_command(admin_opcode::kKeepAlive, 1));
    EXPECT_EQ(status_of(admin.completion()), StatusCode::success);
    bench.now += 2 * kSecond;
    bench.subsystem->expire(bench.now);
    EXPECT_FALSE(admin.connection().closed());

    bench.now += kMillisecond;
    bench.subsystem->expire(bench.now);
    EXPECT_TRUE(admin.connection().closed());
    EXPECT_TRUE(io.connection().closed());
    EXPECT_EQ(bench.listener.counters.expired, 1U);
}

TEST(TargetAssociation, EndsWithItsAdminConnection) {
    Bench bench;
    std::optional<Peer> admin(bench);
    admin->ic_req();
    const auto id = static_cast<std::uint16_t>(admin->connect(0, 0xffff).dw0);
    admin->set_cc(kEnableController);
    Peer io(bench);
    io.ic_req();
    io.connect(1, id);
    EXPECT_FALSE(io.connection().closed());
    admin.reset();
    EXPECT_TRUE(io.connection().closed());
}

TEST(TargetAssociation, AResetEndsTheIoQueuesButNotTheAdminQueue) {
    Bench bench;
    Association host(bench);
    EXPECT_EQ(status_of(host.admin.set_cc(0)), StatusCode::success);
    EXPECT_TRUE(host.io.connection().closed());
    EXPECT_FALSE(host.admin.connection().closed());
}

TEST(TargetAssociation, DisconnectIsForIoQueues) {
    Bench bench;
    Association host(bench);
    host.io.capsule(std::bit_cast<nvme::Sqe>(nvme::DisconnectCommand{}));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    host.admin.capsule(std::bit_cast<nvme::Sqe>(nvme::DisconnectCommand{}));
    EXPECT_EQ(status_of(host.admin.completion()), StatusCode::invalid_queue_type);
}

} // namespace
} // namespace mpath::target
