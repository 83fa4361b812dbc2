// SPDX-License-Identifier: GPL-2.0-only
// What a live control session notices of its logical unit: another size, another device, none any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/iscsi_control/control_fixture.h"

namespace mpath::iscsi::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Data = FakeTarget::Data;

using UnitChange = LiveControl;

TEST_F(UnitChange, is_told_when_it_is_resized) {
    FakeTarget target;
    ControlSession& session = start(target);
    target.set([](Data& data) {
        data.capacity = capacity_data(4096);
        data.attentions = {kCapacityChanged};
    });
    next_look();
    ASSERT_TRUE(run_until([this] { return !listener_.changes.empty(); }));
    EXPECT_THAT(listener_.changes, ElementsAre("resized from 1048576 to 2097152 bytes"));
    EXPECT_EQ(session.facts().limits.size, 2097152U);
    EXPECT_THAT(listener_.losses, IsEmpty());
}

TEST_F(UnitChange, with_other_blocks_is_the_end_of_the_path) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) {
        data.capacity = capacity_data(256, 4096);
        data.attentions = {kCapacityChanged};
    });
    next_look();
    ASSERT_TRUE(run_until_lost());
    EXPECT_THAT(listener_.changes,
                ElementsAre("LUN 0 was formatted: it has blocks of 4096 bytes, before of 512"));
    EXPECT_EQ(listener_.losses.front().code, ENODEV);
}

TEST_F(UnitChange, to_another_device_is_the_end_of_the_path) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) {
        data.pages[vpd_page::kIdentification] = identification(2);
        data.attentions = {sense(6, 0x3f, 0x03)};
    });
    next_look();
    ASSERT_TRUE(run_until_lost());
    EXPECT_THAT(listener_.changes,
                ElementsAre("LUN 0 is another device now (vpd83 naa.60000000000000000000000000000002, before "
                            "vpd83 naa.60000000000000000000000000000001)"));
    EXPECT_EQ(listener_.losses.front().code, ENODEV);
}

TEST_F(UnitChange, is_the_end_of_the_path_when_it_is_not_there_any_more) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) {
        data.inquiry = inquiry_data(0x7f);
        data.attentions = {kLunsChanged};
    });
    next_look();
    ASSERT_TRUE(run_until_lost());
    EXPECT_THAT(listener_.changes, ElementsAre("LUN 0 was removed"));
}

TEST_F(UnitChange, is_noticed_by_the_refusal_of_every_command) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) {
        data.refused = {{scsi_opcode::kInquiry, kNoUnit},
                        {scsi_opcode::kTestUnitReady, kNoUnit},
                        {scsi_opcode::kMaintenanceIn, kNoUnit}};
    });
    next_look();
    ASSERT_TRUE(run_until_lost());
    EXPECT_THAT(listener_.changes, ElementsAre("LUN 0 was removed"));
}

TEST_F(UnitChange, among_the_others_of_the_target_is_none_of_ours) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) { data.attentions = {kLunsChanged, kPowerOn}; });
    const unsigned before = target.received(scsi_opcode::kInquiry);
    next_look();
    ASSERT_TRUE(run_until([&] { return target.received(scsi_opcode::kInquiry) > before; }));
    settle(target);
    EXPECT_THAT(listener_.changes, IsEmpty());
    EXPECT_THAT(listener_.losses, IsEmpty());
    EXPECT_THAT(listener_.events, IsEmpty());
}

/// A unit attention comes once, with whichever command is next.
TEST_F(UnitChange, is_not_missed_when_another_command_than_test_unit_ready_brings_it) {
    FakeTarget target;
    start(target);
    target.set([](Data& data) {
        data.capacity = capacity_data(4096);
        data.answer = [told = false](const Cdb& cdb) mutable -> std::optional<Answer> {
            if (cdb[0] == scsi_opcode::kMaintenanceIn && !std::exchange(told, true)) {
                return kCapacityChanged;
            }
            return std::nullopt;
        };
    });
    next_look();
    EXPECT_TRUE(run_until([this] { return listener_.changes.size() == 1; }));
}

TEST_F(UnitChange, shows_its_size_once_its_port_has_left_standby) {
    Data data;
    data.state = AluaState::standby;
    data.refused = {{scsi_opcode::kTestUnitReady, kStandby}, {scsi_opcode::kServiceActionIn16, kStandby}};
    FakeTarget target(data);
    ControlSession& session = start(target);
    EXPECT_EQ(session.facts().limits.size, 0U);
    target.set([](Data& now) {
        now.state = AluaState::active_optimized;
        now.refused.clear();
    });
    next_look();
    EXPECT_TRUE(run_until([&] { return session.facts().limits.size == 2048U * 512; }));
    EXPECT_THAT(listener_.states, SizeIs(1));
    EXPECT_THAT(listener_.changes, IsEmpty()) << "it has not changed";
}

} // namespace
} // namespace mpath::iscsi::test
