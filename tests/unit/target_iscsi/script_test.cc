// SPDX-License-Identifier: GPL-2.0-only
// What scripts do to a portal and its sessions.
#include <gtest/gtest.h>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;
namespace flag = iscsi::command_flag;

/// One initiator that has logged in.
struct Scene : Bench {
    explicit Scene(const Keys& keys = {}) : initiator(*this) { initiator.log_in(keys); }
    Ended read() { return initiator.run(blocks_cdb(op::kRead16, 0, 2), 1024); }
    Ended write() { return initiator.write(blocks_cdb(op::kWrite16, 0, 2), pattern(1024)); }
    Initiator initiator;
};

TEST(TargetIscsiScript, FailsCommands) {
    Scene scene;
    scene.play("on a fail sense 3/11/00 count 1");
    EXPECT_EQ(scene.read().sense(), "3/11/00");
    scene.play("on a command write fail task-set-full count 1");
    EXPECT_TRUE(scene.read().good());
    EXPECT_EQ(scene.write().status, iscsi::scsi_status::kTaskSetFull);
    scene.play("on a busy");
    EXPECT_EQ(scene.read().status, iscsi::scsi_status::kBusy);
    EXPECT_TRUE(scene.initiator.run(cdb({op::kTestUnitReady})).good()) << "I/O alone, unless told otherwise";
    scene.play("on a heal");
    scene.play("on a command test-unit-ready fail 18h");
    EXPECT_EQ(scene.initiator.run(cdb({op::kTestUnitReady})).status,
              iscsi::scsi_status::kReservationConflict);
    EXPECT_EQ(scene.a.counters.failed, 4U);
}

TEST(TargetIscsiScript, DelaysAndMutes) {
    Scene scene;
    scene.play("on a delay 5ms");
    const auto slow = scene.initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_FALSE(scene.initiator.receive());
    scene.wait(5 * kMillisecond);
    EXPECT_TRUE(scene.initiator.end_of(slow).good());
    scene.play("on a heal");
    scene.play("on a mute");
    scene.write();
    EXPECT_EQ(scene.a.counters.writes, 1U) << "carried out";
    EXPECT_EQ(scene.a.counters.muted, 1U);
    iscsi::NopOut ping;
    ping.task_tag = 1;
    scene.initiator.send_pdu(ping);
    EXPECT_FALSE(scene.initiator.receive());
    scene.play("on a heal");
    EXPECT_TRUE(scene.read().good());
}

TEST(TargetIscsiScript, EndsConnections) {
    for (const char* how : {"on a drop", "on a close", "on a down", "on a session 1 drop"}) {
        Scene scene;
        scene.play(how);
        EXPECT_TRUE(scene.initiator.ended()) << how;
    }
    Scene scene;
    scene.play("on a session 9 drop");
    scene.play("on b drop");
    EXPECT_FALSE(scene.initiator.ended());
}

TEST(TargetIscsiScript, StallsAndGoesOn) {
    Scene scene;
    scene.play("on a stall-reading");
    const auto tag = scene.initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_FALSE(scene.initiator.receive());
    scene.play("on a heal");
    EXPECT_TRUE(scene.initiator.end_of(tag).good());
    scene.play("on a stall-writing");
    const auto next = scene.initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_FALSE(scene.initiator.receive());
    scene.play("on a heal");
    EXPECT_TRUE(scene.initiator.end_of(next).good());
}

TEST(TargetIscsiScript, FlipsBits) {
    Scene scene({{"HeaderDigest", "CRC32C"}, {"DataDigest", "CRC32C"}});
    scene.play("on a flip header");
    scene.initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_FALSE(scene.initiator.receive()->header_digest_right);
    scene.play("on a flip data");
    scene.initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    const auto wrong = scene.initiator.receive();
    EXPECT_TRUE(wrong->header_digest_right);
    EXPECT_FALSE(wrong->data_digest_right);
    EXPECT_TRUE(scene.read().good());
}

TEST(TargetIscsiScript, SplitsDataAndSends) {
    Scene scene;
    scene.play("on a split-data 100");
    EXPECT_EQ(scene.read().data_pdus, 11U);
    scene.play("on a heal");
    scene.play("on a split 7");
    EXPECT_EQ(scene.read().data_pdus, 1U);
}

TEST(TargetIscsiScript, HoldsWritesUntilTheConnectionIsLost) {
    Bench bench;
    {
        Initiator initiator(bench);
        initiator.log_in();
        bench.play("on a hold-writes 1s");
        initiator.write(blocks_cdb(op::kWrite16, 0, 2), pattern(1024));
        EXPECT_EQ(bench.a.counters.held_writes, 1U);
        EXPECT_EQ(initiator.run(blocks_cdb(op::kRead16, 0, 2), 1024).data, Bytes(1024));
        bench.play("on a drop");
        bench.play("on all heal");
    }
    Initiator next(bench, bench.b);
    next.log_in();
    bench.wait(0);
    EXPECT_EQ(next.run(blocks_cdb(op::kRead16, 0, 2), 1024).data, Bytes(1024));
    bench.wait(2 * kSecond);
    EXPECT_EQ(next.run(blocks_cdb(op::kRead16, 0, 2), 1024).data, pattern(1024));
    EXPECT_EQ(bench.a.counters.late_writes, 1U);
}

TEST(TargetIscsiScript, ResizesRemovesAndExchangesUnits) {
    Scene scene;
    scene.play("on a resize 8M");
    EXPECT_EQ(scene.read().sense(), "6/2a/09");
    const Bytes capacity = scene.initiator.run(cdb({op::kReadCapacity10}), 8).data;
    EXPECT_EQ(read_at<Be32>(capacity, 0), (8U << 20) / 512 - 1);
    const auto identity = [&] { return scene.initiator.run(cdb({op::kInquiry, 1, 0x83, 1, 0}), 256).data; };
    const Bytes before = identity();
    scene.play("for 1s on a identity another");
    EXPECT_NE(identity(), before);
    scene.wait(2 * kSecond);
    EXPECT_EQ(identity(), before);
    scene.play("for 1s on a remove");
    EXPECT_EQ(scene.read().sense(), "5/25/00");
    EXPECT_EQ(scene.initiator.run(cdb({op::kReportLuns, 0, 0, 0, 0, 0, 0, 0, 1, 0}), 256).data.size(), 8U);
    scene.wait(2 * kSecond);
    EXPECT_EQ(scene.read().sense(), "6/3f/0e");
    EXPECT_TRUE(scene.read().good());
}

TEST(TargetIscsiScript, CountsTimeFromTheFirstIo) {
    Scene scene;
    scene.play("at 1s on a fail busy\nafter 3 reads on b drop");
    scene.wait(5 * kSecond);
    EXPECT_TRUE(scene.initiator.run(cdb({op::kTestUnitReady})).good());
    EXPECT_TRUE(scene.read().good());
    scene.wait(2 * kSecond);
    EXPECT_EQ(scene.read().status, iscsi::scsi_status::kBusy);
}

TEST(TargetIscsiScript, SaysWhatIsForOneProtocolOnly) {
    Bench bench;
    const std::pair<const char*, const char*> rows[] = {
        {"on a fatal", "fatal is for NVMe/TCP"},
        {"on a reset", "reset is for NVMe/TCP"},
        {"on all lie r2t-beyond", "lie is for NVMe/TCP"},
        {"on a fail busy dnr", "'dnr' is for NVMe/TCP"},
        {"on a fail internal-error", "is not a SCSI status"},
        {"on a queue 1 drop", "has no queues"},
        {"on a command set-features mute", "iSCSI has no command 'set-features'"},
        {"on n async logout", "async is for iSCSI"},
        {"on n ping", "ping is for iSCSI"},
        {"on n ana standby", "'standby' is a state of ALUA"},
        {"on n command inquiry mute", "NVMe has no command 'inquiry'"},
        {"on a+n fail busy", "have no status in common"},
        {"on n fail busy", "is not a status"},
    };
    for (const auto& [statement, sentence] : rows) {
        EXPECT_NE(bench.refusal(statement).find(sentence), std::string::npos)
            << statement << ": " << bench.refusal(statement);
    }
    for (const char* statement :
         {"on all busy", "on all ana inaccessible", "on all command keep-alive mute", "on all down"}) {
        EXPECT_EQ(bench.refusal(statement), "") << statement;
    }
}

} // namespace
} // namespace mpath::target::scsi
