// SPDX-License-Identifier: GPL-2.0-only
// Task management, and how many commands there may be.
#include <gtest/gtest.h>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;
namespace flag = iscsi::command_flag;
namespace function = iscsi::task_function;
namespace response = iscsi::task_response;

TEST(TargetIscsiManagement, AbortsATaskThatHasNotEnded) {
    Bench bench;
    bench.play("on a delay 1s");
    Initiator initiator(bench);
    initiator.log_in();
    const std::uint32_t number = initiator.cmd_sn;
    const auto tag = initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_EQ(initiator.manage(function::kAbortTask, tag, number), response::kComplete);
    bench.wait(2 * kSecond);
    EXPECT_FALSE(initiator.receive()) << "an aborted task has no answer";
    EXPECT_EQ(bench.a.counters.aborted, 1U);
    EXPECT_EQ(initiator.manage(function::kAbortTask, tag, number), response::kNoTask);
    EXPECT_EQ(initiator.manage(function::kAbortTask, 99, initiator.cmd_sn + 1), response::kComplete)
        << "it has not come yet";
}

TEST(TargetIscsiManagement, ThrowsAwayWhatStillComesForAnAbortedWrite) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in({{"InitialR2T", "No"}, {"FirstBurstLength", "1024"}});
    const std::uint32_t number = initiator.cmd_sn;
    const auto solicited = initiator.command(blocks_cdb(op::kWrite16, 0, 2), 1024, flag::kWrite);
    const auto r2t = initiator.receive();
    ASSERT_TRUE(r2t && r2t->opcode() == iscsi::Opcode::r2t);
    const auto unsolicited = initiator.command(blocks_cdb(op::kWrite16, 8, 2), 1024, flag::kWrite, {}, false);
    EXPECT_EQ(initiator.manage(function::kAbortTask, solicited, number), response::kComplete);
    EXPECT_EQ(initiator.manage(function::kAbortTask, unsolicited, number + 1), response::kComplete);
    initiator.data_out(solicited, r2t->as<iscsi::R2t>().target_tag, 0, 0, pattern(1024), true);
    initiator.data_out(unsolicited, iscsi::kNoTag, 0, 0, pattern(1024), true);
    EXPECT_FALSE(initiator.receive());
    EXPECT_EQ(initiator.run(blocks_cdb(op::kRead16, 0, 10), 5120).data, Bytes(5120));
}

TEST(TargetIscsiManagement, ResetsAUnitForEverybody) {
    Options options = Bench::small();
    options.namespaces = 2;
    Bench bench(options);
    bench.play("on all delay 1s");
    Initiator here(bench);
    Initiator there(bench, bench.b);
    here.log_in();
    there.log_in();
    here.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    there.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    there.lun = {0, 1};
    const auto other_unit = there.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_EQ(here.manage(function::kLogicalUnitReset), response::kComplete);
    bench.wait(2 * kSecond);
    EXPECT_FALSE(here.receive());
    EXPECT_TRUE(there.end_of(other_unit).good());
    there.lun = {};
    EXPECT_EQ(there.run(cdb({op::kTestUnitReady})).sense(), "6/29/03");
    EXPECT_TRUE(here.run(cdb({op::kTestUnitReady})).good()) << "who did it knows";
}

TEST(TargetIscsiManagement, ClearsTaskSets) {
    Bench bench;
    bench.play("on all delay 1s");
    Initiator here(bench);
    Initiator there(bench, bench.b);
    here.log_in();
    there.log_in();
    const auto kept = there.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    here.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_EQ(here.manage(function::kAbortTaskSet), response::kComplete);
    bench.wait(2 * kSecond);
    EXPECT_FALSE(here.receive());
    EXPECT_TRUE(there.end_of(kept).good()) << "only one's own tasks are aborted";
    there.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    EXPECT_EQ(here.manage(function::kClearTaskSet), response::kComplete);
    EXPECT_EQ(there.run(cdb({op::kTestUnitReady})).sense(), "6/2f/00");
}

TEST(TargetIscsiManagement, EndsSessionsByAColdReset) {
    Bench bench;
    Initiator here(bench);
    Initiator there(bench, bench.b);
    here.log_in();
    there.log_in();
    EXPECT_EQ(here.manage(function::kTargetColdReset), response::kComplete);
    EXPECT_TRUE(here.ended());
    EXPECT_TRUE(there.ended());
}

TEST(TargetIscsiManagement, SaysWhatItCanNotDo) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    EXPECT_EQ(initiator.manage(function::kTaskReassign), response::kReassignUnsupported);
    EXPECT_EQ(initiator.manage(function::kClearAca), response::kUnsupported);
    EXPECT_EQ(initiator.manage(100), response::kUnsupported);
    initiator.lun = {0, 9};
    EXPECT_EQ(initiator.manage(function::kLogicalUnitReset), response::kNoLun);
}

TEST(TargetIscsiWindow, OpensAsCommandsEnd) {
    Options options = Bench::small();
    options.queue_size = 4;
    Bench bench(options);
    bench.play("on a delay 1s");
    Initiator initiator(bench);
    initiator.log_in();
    std::vector<std::uint32_t> tags;
    const std::uint32_t first = initiator.cmd_sn;
    for (int i = 0; i < 4; ++i) {
        tags.push_back(initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead));
    }
    initiator.manage(function::kAbortTask, 99, first); // for its numbers
    EXPECT_EQ(initiator.last_exp_cmd_sn, first + 4);
    EXPECT_EQ(initiator.last_max_cmd_sn, first + 3) << "closed";
    const std::uint32_t beyond = initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, flag::kRead);
    bench.wait(2 * kSecond);
    for (const std::uint32_t tag : tags) {
        EXPECT_TRUE(initiator.end_of(tag).good());
    }
    EXPECT_EQ(initiator.last_max_cmd_sn, first + 7);
    EXPECT_FALSE(initiator.receive()) << "the fifth, " << beyond << ", was passed over";
    initiator.cmd_sn = first + 4;
    EXPECT_TRUE(initiator.run(cdb({op::kTestUnitReady})).good());
}

TEST(TargetIscsiWindow, PassesOverNumbersThatAreOver) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    ASSERT_TRUE(initiator.run(cdb({op::kTestUnitReady})).good());
    --initiator.cmd_sn;
    initiator.command(cdb({op::kTestUnitReady}));
    EXPECT_FALSE(initiator.receive());
    EXPECT_TRUE(initiator.run(cdb({op::kTestUnitReady})).good());
}

} // namespace
} // namespace mpath::target::scsi
