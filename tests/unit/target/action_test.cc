// SPDX-License-Identifier: GPL-2.0-only
// What each action of a script does to connections and commands, as a host sees it.
#include <gtest/gtest.h>

#include "stage.h"

namespace mpath::target {
namespace {

namespace io_opcode = nvme::io_opcode;
namespace admin_opcode = nvme::admin_opcode;
using nvme::PduType;
using nvme::StatusCode;

class TargetAction : public testing::Test {
protected:
    TargetAction() : host(stage) { stage.reaches(host); }

    StatusCode io(std::uint8_t opcode, std::uint16_t cid = 1) {
        const bool writes = opcode == io_opcode::kWrite;
        host.io.capsule(blocks_command(opcode, cid, 0, 1), writes ? pattern(512) : Bytes{});
        return status_of(host.io.completion());
    }
    StatusCode admin(std::uint8_t opcode) {
        auto sqe = admin_command(opcode, 7);
        host.admin.capsule(sqe);
        return status_of(host.admin.completion());
    }
    /// The first block, over a connection of another listener's.
    Bytes stored() {
        Bytes bytes;
        stage.subsystem->find_namespace(1)->read(0, 512, [&](const std::byte* from, std::uint32_t count) {
            bytes.insert(bytes.end(), from, from + count);
        });
        return bytes;
    }
    [[nodiscard]] const Counters& counters() const { return stage.listener.counters; }

    Stage stage;
    Association host;
};

TEST_F(TargetAction, DropEndsTheConnectionsItIsTold) {
    stage.play("on b drop\non a queue 1 drop");
    EXPECT_TRUE(host.io.ended());
    EXPECT_FALSE(host.admin.ended());
    stage.play("on a drop");
    EXPECT_TRUE(host.admin.ended());
    EXPECT_EQ(counters().dropped, 2U);
}

TEST_F(TargetAction, DropLeavesOtherControllersAlone) {
    Association second(stage);
    stage.reaches(second);
    stage.play(fmt::format("on a controller {} drop", second.cntlid));
    EXPECT_TRUE(second.io.ended());
    EXPECT_FALSE(host.io.ended());
}

TEST_F(TargetAction, CloseSendsWhatWasAnsweredFirst) {
    host.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 1));
    stage.play("on a queue 1 close");
    EXPECT_EQ(host.io.receive()->type(), PduType::c2h_data);
    EXPECT_EQ(host.io.receive()->type(), PduType::capsule_resp);
    EXPECT_FALSE(host.io.receive());
    EXPECT_TRUE(host.io.ended());
    EXPECT_EQ(counters().closed, 1U);
}

TEST_F(TargetAction, DownIsDropAndRefusedConnects) {
    stage.play("for 1s on a down");
    EXPECT_TRUE(host.io.ended());
    EXPECT_EQ(stage.connects, std::vector<bool>({false}));
    stage.wait(kSecond);
    EXPECT_EQ(stage.connects, std::vector<bool>({false, true}));
}

TEST_F(TargetAction, RejectedConnectsGetTheStatus) {
    stage.play("on a queue 0 reject-connects\non a queue 2 reject-connects connect-invalid-host dnr");
    Peer peer(stage);
    peer.ic_req();
    EXPECT_EQ(status_of(peer.connect(0, nvme::kDynamicController)), StatusCode::connect_busy);
    Peer queue(stage);
    queue.ic_req();
    const auto refused = nvme::Status::from_cqe(queue.connect(2, host.cntlid).status);
    EXPECT_EQ(refused.code(), StatusCode::connect_invalid_host);
    EXPECT_TRUE(refused.dnr());
    Peer other_queue(stage);
    other_queue.ic_req();
    EXPECT_EQ(status_of(other_queue.connect(3, host.cntlid)), StatusCode::success);
}

TEST_F(TargetAction, WhatCameDuringAStallIsTakenUpAfterwards) {
    stage.play("for 1s on a stall-reading");
    EXPECT_FALSE(host.io.connection().wants_read());
    host.io.capsule(blocks_command(io_opcode::kFlush, 3, 0, 1));
    EXPECT_FALSE(host.io.receive());
    EXPECT_EQ(counters().flushes, 0U);
    stage.wait(kSecond);
    EXPECT_TRUE(host.io.connection().wants_read());
    EXPECT_EQ(host.io.completion().cid, 3);
}

TEST_F(TargetAction, AStallBehindACommandKeepsTheNextOfTheSameSegment) {
    stage.play("after 1 command for 1s on a stall-reading");
    Bytes both = host.io.sealed(bytes_of(capsule_pdu(blocks_command(io_opcode::kFlush, 1, 0, 1))), {});
    const Bytes second =
        host.io.sealed(bytes_of(capsule_pdu(blocks_command(io_opcode::kFlush, 2, 0, 1))), {});
    both.insert(both.end(), second.begin(), second.end());
    both.insert(both.end(), second.begin(), second.begin() + 20);
    host.io.send(both);
    EXPECT_EQ(host.io.completion().cid, 1);
    EXPECT_EQ(host.io.completion().cid, 2) << "it found the stall begun, and was the last";
    host.io.send({second.data() + 20, second.size() - 20});
    EXPECT_FALSE(host.io.receive());
    stage.wait(kSecond);
    EXPECT_EQ(host.io.completion().cid, 2);
}

TEST_F(TargetAction, AnswersOfAWritingStallComeAfterwards) {
    stage.play("for 1s on a stall-writing");
    host.io.capsule(blocks_command(io_opcode::kFlush, 3, 0, 1));
    EXPECT_FALSE(host.io.receive());
    EXPECT_EQ(counters().flushes, 1U);
    EXPECT_FALSE(host.io.connection().wants_write()) << "nothing to wait for";
    stage.wait(kSecond);
    EXPECT_EQ(host.io.completion().cid, 3);
}

TEST_F(TargetAction, MuteCarriesOutAndNeverAnswers) {
    stage.play("for 1s on a mute");
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 1), pattern(512));
    host.io.capsule(blocks_command(io_opcode::kRead, 2, 0, 1));
    host.admin.capsule(admin_command(admin_opcode::kKeepAlive, 1));
    EXPECT_FALSE(host.io.receive());
    EXPECT_FALSE(host.admin.receive());
    EXPECT_EQ(stored(), pattern(512));
    EXPECT_EQ(counters().muted, 3U);
    stage.wait(kSecond);
    EXPECT_FALSE(host.io.receive());
    EXPECT_EQ(io(io_opcode::kFlush, 1), StatusCode::success) << "the slot of a muted command is free";
}

TEST_F(TargetAction, MuteHoldsForNewConnectionsToo) {
    stage.play("on a mute");
    Peer peer(stage);
    nvme::IcReq request;
    request.common.hlen = sizeof(request);
    request.common.plen = sizeof(request);
    peer.send(bytes_of(request));
    EXPECT_FALSE(peer.receive());
    EXPECT_FALSE(peer.ended());
}

TEST_F(TargetAction, MuteOfOneKindOfCommandLeavesTheOthers) {
    stage.play("on a command keep-alive mute");
    host.admin.capsule(admin_command(admin_opcode::kKeepAlive, 1));
    EXPECT_FALSE(host.admin.receive());
    EXPECT_EQ(admin(admin_opcode::kAbort), StatusCode::success);
    EXPECT_EQ(io(io_opcode::kFlush), StatusCode::success);
}

TEST_F(TargetAction, DelayComesOnTopOfTheListeners) {
    stage.listener.options.delay = kMillisecond;
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    stage.play("on a delay 5ms");
    host.io.capsule(blocks_command(io_opcode::kFlush, 2, 0, 1));
    stage.play("on a heal");
    host.io.capsule(blocks_command(io_opcode::kFlush, 3, 0, 1));
    stage.wait(kMillisecond);
    EXPECT_EQ(host.io.completion().cid, 1);
    EXPECT_EQ(host.io.completion().cid, 3);
    EXPECT_FALSE(host.io.receive());
    stage.wait(5 * kMillisecond);
    EXPECT_EQ(host.io.completion().cid, 2);
}

TEST_F(TargetAction, DelayCanBeOfAdminCommands) {
    stage.play("on a command keep-alive delay 1s");
    host.admin.capsule(admin_command(admin_opcode::kKeepAlive, 1));
    EXPECT_FALSE(host.admin.receive());
    stage.wait(kSecond);
    EXPECT_EQ(host.admin.completion().cid, 1);
}

TEST_F(TargetAction, FailedCommandsAreNotCarriedOut) {
    stage.play("on a fail 3/02 crd 2 count 2");
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 1), pattern(512));
    const auto status = nvme::Status::from_cqe(host.io.completion().status);
    EXPECT_EQ(status.code(), StatusCode::ana_inaccessible);
    EXPECT_EQ(status.crd(), 0U) << "the host has not said that it heeds it";
    EXPECT_EQ(io(io_opcode::kFlush), StatusCode::ana_inaccessible);
    EXPECT_EQ(io(io_opcode::kFlush), StatusCode::success);
    EXPECT_EQ(stored(), Bytes(512));
    EXPECT_EQ(counters().failed, 2U);
    EXPECT_EQ(counters().writes, 0U);
}

TEST_F(TargetAction, SaysHowLongToWaitToAHostThatHeedsIt) {
    Bytes behavior(sizeof(nvme::HostBehavior));
    behavior[0] = std::byte{1};
    auto sqe = admin_command(admin_opcode::kSetFeatures, 1);
    sqe.cdw10 = nvme::feature::kHostBehaviorSupport;
    host.admin.capsule(sqe, behavior);
    ASSERT_EQ(status_of(host.admin.completion()), StatusCode::success);
    stage.play("on a fail 3/02 crd 2");
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 0));
    EXPECT_EQ(nvme::Status::from_cqe(host.io.completion().status).crd(), 2U);
}

TEST_F(TargetAction, FailsAWriteWithoutAskingForItsData) {
    stage.play("on a busy");
    host.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 64));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::namespace_not_ready);
}

TEST_F(TargetAction, FailsTheCommandCounted) {
    stage.play("on a command write/2 fail internal-error");
    std::string seen;
    for (int i = 0; i < 4; ++i) {
        seen += io(io_opcode::kFlush) == StatusCode::success ? '.' : 'x';
        seen += io(io_opcode::kWrite) == StatusCode::success ? '.' : 'x';
    }
    EXPECT_EQ(seen, "...x....");
}

TEST_F(TargetAction, FailsAdminCommandsByKind) {
    stage.play("on a command ana-log fail internal-error dnr");
    host.admin.capsule(log_command(nvme::log_page::kAna, 64));
    EXPECT_EQ(status_of(host.admin.completion()), StatusCode::internal_error);
    host.admin.capsule(log_command(nvme::log_page::kSmart, 512));
    EXPECT_EQ(host.admin.receive()->type(), PduType::c2h_data);
}

TEST_F(TargetAction, FlipsABitOfTheNextReadsData) {
    const Wish digests{.header_digest = true, .data_digest = true};
    Association wary(stage, 0, digests);
    stage.play("on a flip data");
    wary.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_TRUE(wary.io.receive()->header_digest_is_right());
    for (const bool right : {false, true}) {
        wary.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 1));
        const auto data = wary.io.receive();
        EXPECT_TRUE(data->header_digest_is_right());
        EXPECT_EQ(data->data_digest_is_right(), right);
        EXPECT_TRUE(wary.io.receive()->header_digest_is_right());
    }
}

TEST_F(TargetAction, FlipsABitOfTheNextHeader) {
    Association wary(stage, 0, {.header_digest = true});
    stage.play("on a command flush/2 flip header");
    for (const bool right : {true, false, true}) {
        wary.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
        EXPECT_EQ(wary.io.receive()->header_digest_is_right(), right);
    }
}

TEST_F(TargetAction, SplitsDataIntoPdus) {
    stage.play("for 1s on a split-data 200");
    for (const std::size_t pdus : {3U, 1U}) {
        host.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 1));
        for (std::size_t i = 0; i < pdus; ++i) {
            EXPECT_EQ(host.io.receive()->type(), PduType::c2h_data);
        }
        EXPECT_EQ(host.io.receive()->type(), PduType::capsule_resp);
        stage.wait(kSecond);
    }
}

TEST_F(TargetAction, SplitsWhatIsSent) {
    stage.play("on a split 10");
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_TRUE(host.io.connection().wants_write());
    EXPECT_EQ(host.io.receive_bytes().size() % 10, 0U);
}

TEST_F(TargetAction, ReordersAnswersForATime) {
    stage.play("for 1s on a reorder");
    std::vector<std::uint16_t> order;
    for (std::uint16_t cid = 1; cid <= 20; ++cid) {
        host.io.capsule(blocks_command(io_opcode::kFlush, cid, 0, 1));
    }
    stage.wait(kMillisecond);
    while (const auto pdu = host.io.receive()) {
        order.push_back(pdu->as<nvme::CapsuleResp>().cqe.cid);
    }
    EXPECT_EQ(order.size(), 20U);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    stage.wait(kSecond);
    EXPECT_EQ(io(io_opcode::kFlush, 30), StatusCode::success);
}

TEST_F(TargetAction, LiesToTheNextCommandItCanBeDoneTo) {
    stage.play("on a lie unknown-cid\non a lie r2t-empty");
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_EQ(host.io.completion().cid, 0xfffe);
    EXPECT_EQ(host.io.completion().cid, 1);
    host.io.capsule(blocks_command(io_opcode::kWrite, 2, 0, 32));
    EXPECT_EQ(host.io.receive()->as<nvme::R2t>().r2tl, 0U);
    EXPECT_EQ(host.io.receive()->as<nvme::R2t>().r2tl, 32U * 512);
    host.io.capsule(blocks_command(io_opcode::kWrite, 3, 0, 32));
    EXPECT_EQ(host.io.receive()->as<nvme::R2t>().r2tl, 32U * 512);
}

TEST_F(TargetAction, AHeldWriteIsCarriedOutAfterItsConnectionIsLost) {
    stage.play("on a hold-writes 2s count 1");
    {
        Association lost(stage);
        lost.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 1), pattern(512));
        EXPECT_FALSE(lost.io.receive());
        stage.wait(10 * kSecond);
        EXPECT_EQ(stored(), Bytes(512)) << "not while the connection is there";
    }
    stage.wait(0);
    EXPECT_EQ(stage.subsystem->late_writes().next_due(), stage.now + 2 * kSecond);
    EXPECT_EQ(io(io_opcode::kWriteZeroes), StatusCode::success) << "as a retry would be";
    stage.wait(2 * kSecond);
    EXPECT_EQ(stored(), pattern(512)) << "and the late write overwrites that";
    EXPECT_EQ(counters().held_writes, 1U);
    EXPECT_EQ(counters().late_writes, 1U);
    EXPECT_EQ(counters().writes, 0U);
}

TEST_F(TargetAction, AHeldWriteWhoseDataIsAskedForIsCarriedOutWhole) {
    const Bytes data = pattern(16384);
    stage.play("on a hold-writes 0");
    {
        Association lost(stage);
        lost.io.capsule(blocks_command(io_opcode::kWrite, 1, 0, 32));
        lost.io.answer_r2t(lost.io.receive()->as<nvme::R2t>(), data, 8192);
        lost.io.capsule(blocks_command(io_opcode::kWrite, 2, 0, 32)); // whose data never comes
    }
    stage.wait(0);
    EXPECT_EQ(counters().held_writes, 2U);
    EXPECT_EQ(counters().late_writes, 1U);
    EXPECT_EQ(stored(), Bytes(data.begin(), data.begin() + 512));
}

TEST_F(TargetAction, FatalIsSaidByTheStatusProperty) {
    stage.play("on a fatal");
    nvme::PropertyGetCommand command;
    command.offset = nvme::property::kCsts;
    host.admin.capsule(std::bit_cast<nvme::Sqe>(command));
    EXPECT_EQ(host.admin.completion().dw0 & nvme::csts::kFatal, nvme::csts::kFatal);
}

TEST_F(TargetAction, ResetEndsTheIoQueuesAndDisablesTheController) {
    stage.play("on a reset");
    EXPECT_TRUE(host.io.ended());
    EXPECT_FALSE(host.admin.ended());
    EXPECT_EQ(admin(admin_opcode::kKeepAlive), StatusCode::command_sequence_error);
}

} // namespace
} // namespace mpath::target
