// SPDX-License-Identifier: GPL-2.0-only
// What a control session finds out while it comes up, and how it fails to.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/iscsi_control/control_fixture.h"

namespace mpath::iscsi::test {
namespace {

using testing::HasSubstr;
using Data = FakeTarget::Data;

class BringUp : public ControlTest {
protected:
    /// Connects; the facts of the session, which is over then.
    SessionFacts facts(const FakeTarget& target) {
        Connected session = connect(target);
        EXPECT_TRUE(session) << session.error().text;
        if (!session) {
            return {};
        }
        SessionFacts facts = (*session)->facts();
        EXPECT_EQ(log_out(**session), 0);
        return facts;
    }
};

TEST_F(BringUp, finds_out_which_unit_it_is) {
    const FakeTarget target;
    const SessionFacts found = facts(target);
    EXPECT_EQ(found.identity.text(), "vpd83 naa.60000000000000000000000000000001");
    EXPECT_EQ(found.model.model, "ACME RAMDISK");
    EXPECT_EQ(found.model.serial, "S-42");
    EXPECT_EQ(found.model.firmware, "1.2");
    EXPECT_EQ(found.target, target_name_);
    EXPECT_EQ(found.address, target.address().text());
    EXPECT_FALSE(found.local_address.empty());
    EXPECT_EQ(found.portal_group, 3U) << "TargetPortalGroupTag";
}

TEST_F(BringUp, finds_out_its_limits) {
    const SessionFacts found = facts(FakeTarget());
    EXPECT_EQ(found.limits.size, 2048U * 512);
    EXPECT_EQ(found.limits.block_size, 512U);
    EXPECT_EQ(found.limits.max_transfer, 1024U * 512);
    EXPECT_TRUE(found.limits.can_trim);
    EXPECT_EQ(found.limits.max_trim, 4096U * 512);
    EXPECT_TRUE(found.features.unmap);
    EXPECT_FALSE(found.limits.read_only);
}

TEST_F(BringUp, finds_out_the_state_of_its_port) {
    Data data;
    data.state = AluaState::active_non_optimized;
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_TRUE(found.reports_state);
    EXPECT_EQ(found.tpgs, 1U);
    EXPECT_EQ(found.group, 2U);
    EXPECT_EQ(found.relative_port, 7U);
    EXPECT_TRUE(found.preferred);
    EXPECT_EQ(found.state, PathState::non_optimized);
    EXPECT_EQ(found.state_name, "");
    EXPECT_EQ(found.alua_state, AluaState::active_non_optimized);
}

TEST_F(BringUp, knows_how_long_a_transition_may_last) {
    Data data;
    EXPECT_EQ(facts(FakeTarget(data)).transition_limit, 60 * kSecond) << "not said: as Linux has it";
    data.transition_time = 7;
    EXPECT_EQ(facts(FakeTarget(data)).transition_limit, 7 * kSecond);
}

TEST_F(BringUp, finds_write_protection) {
    Data data;
    data.mode[2] = std::byte{0x80};
    EXPECT_TRUE(facts(FakeTarget(data)).limits.read_only);
}

TEST_F(BringUp, is_not_disturbed_by_what_the_target_has_to_tell) {
    Data data;
    data.attentions = {kPowerOn, kLunsChanged, kStatesChanged};
    EXPECT_EQ(facts(FakeTarget(data)).limits.size, 2048U * 512);
}

TEST_F(BringUp, waits_for_a_busy_unit) {
    Data data;
    int busy = 2;
    data.answer = [&busy](const Cdb& cdb) -> std::optional<Answer> {
        if (cdb[0] == scsi_opcode::kServiceActionIn16 && busy-- > 0) {
            return Answer{scsi_status::kBusy, 0, 0, 0, {}};
        }
        return std::nullopt;
    };
    EXPECT_EQ(facts(FakeTarget(data)).limits.size, 2048U * 512);
}

TEST_F(BringUp, waits_until_the_target_takes_commands_again) {
    Data data;
    data.two_commands = true;
    FakeTarget target(data);
    std::optional<Connected> session;
    net::spawn<Connected>(connecting(target.address()), [&](Connected done) { session = std::move(done); });
    ASSERT_TRUE(run_until([&] { return target.commands() == 2; }));
    settle(target);
    EXPECT_EQ(target.commands(), 2U);
    target.open_window();
    ASSERT_TRUE(run_until([&] { return session.has_value(); }));
    ASSERT_TRUE(*session) << session->error().text;
    log_out(***session);
}

// ---- ports that take no I/O

/// What a unit behind a standby port still answers.
Data standby_unit() {
    Data data;
    data.state = AluaState::standby;
    data.refused = {{scsi_opcode::kTestUnitReady, kStandby}, {scsi_opcode::kServiceActionIn16, kStandby}};
    return data;
}

TEST_F(BringUp, comes_up_behind_a_standby_port) {
    const SessionFacts found = facts(FakeTarget(standby_unit()));
    EXPECT_EQ(found.state, PathState::inaccessible);
    EXPECT_EQ(found.state_name, "standby");
    EXPECT_EQ(found.identity.text(), "vpd83 naa.60000000000000000000000000000001");
    EXPECT_EQ(found.limits.size, 0U) << "another path has to tell";
    EXPECT_TRUE(found.features.unmap) << "how it trims will be needed once the state has changed";
}

/// A write that is to reach the medium must not do without because the path came up in another state.
TEST_F(BringUp, forces_unit_access_behind_a_port_that_does_not_say_whether_it_knows_that) {
    Data data = standby_unit();
    EXPECT_FALSE(facts(FakeTarget(data)).features.force_unit_access) << "it says so";
    data.mode[2] = std::byte{0x10};
    EXPECT_TRUE(facts(FakeTarget(data)).features.force_unit_access);
    data.mode[2] = std::byte{0};
    data.refused[scsi_opcode::kModeSense6] = kStandby;
    EXPECT_TRUE(facts(FakeTarget(data)).features.force_unit_access);
}

TEST_F(BringUp, takes_the_state_from_a_port_that_says_nothing_else) {
    Data data;
    data.refused = {{scsi_opcode::kTestUnitReady, kInTransition},
                    {scsi_opcode::kServiceActionIn16, kInTransition},
                    {scsi_opcode::kMaintenanceIn, kInTransition}};
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_TRUE(found.reports_state);
    EXPECT_EQ(found.state, PathState::change);
    EXPECT_EQ(found.state_name, "transitioning");
    EXPECT_EQ(found.group, 2U);
}

TEST_F(BringUp, takes_the_state_from_test_unit_ready_where_none_is_reported) {
    Data data = standby_unit();
    data.inquiry = inquiry_data(0, 0);
    data.pages[vpd_page::kIdentification] = identification(1, false);
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_FALSE(found.reports_state);
    EXPECT_EQ(found.state_name, "standby");
}

// ---- targets with and without ALUA

TEST_F(BringUp, asks_for_states_where_only_the_designators_speak_of_groups) {
    Data data;
    data.inquiry = inquiry_data(0, 0);
    data.state = AluaState::active_non_optimized;
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_EQ(found.tpgs, 0U);
    EXPECT_EQ(found.state, PathState::non_optimized);
}

TEST_F(BringUp, finds_the_group_by_the_port_where_the_designators_do_not_tell) {
    Data data;
    data.pages[vpd_page::kIdentification] = identification(1, false);
    data.state = AluaState::active_non_optimized;
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_EQ(found.group, 2U);
    EXPECT_EQ(found.state, PathState::non_optimized);
}

TEST_F(BringUp, does_not_ask_for_states_where_nothing_speaks_of_them) {
    Data data;
    data.inquiry = inquiry_data(0, 0);
    data.pages[vpd_page::kIdentification] = identification(1, false);
    FakeTarget target(data);
    const SessionFacts found = facts(target);
    EXPECT_FALSE(found.reports_state);
    EXPECT_EQ(found.state, PathState::optimized);
    EXPECT_EQ(target.received(scsi_opcode::kMaintenanceIn), 0U);
}

TEST_F(BringUp, does_without_the_extended_header_where_it_is_refused) {
    Data data;
    data.state = AluaState::active_non_optimized;
    data.answer = [](const Cdb& cdb) -> std::optional<Answer> {
        const bool extended = cdb[0] == scsi_opcode::kMaintenanceIn && (cdb[1] & kExtendedHeader) != 0;
        return extended ? std::optional(kInvalidField) : std::nullopt;
    };
    FakeTarget target(data);
    EXPECT_EQ(facts(target).state, PathState::non_optimized);
    EXPECT_EQ(target.received(scsi_opcode::kMaintenanceIn), 2U);
}

/// Debian's tgt knows of no groups at all.
TEST_F(BringUp, comes_up_without_states_where_they_are_refused) {
    Data data;
    data.refused = {{scsi_opcode::kMaintenanceIn, kInvalidField}};
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_FALSE(found.reports_state);
    EXPECT_EQ(found.state, PathState::optimized);
}

TEST_F(BringUp, comes_up_without_optional_pages) {
    Data data;
    data.pages.clear();
    data.refused = {{scsi_opcode::kModeSense6, sense(5, 0x20, 0)}};
    const SessionFacts found = facts(FakeTarget(data));
    EXPECT_EQ(found.identity.text(), "none");
    EXPECT_EQ(found.limits.size, 2048U * 512);
    EXPECT_FALSE(found.limits.can_trim);
}

// ---- what can't be used

TEST_F(BringUp, names_the_units_there_are_when_ours_is_not) {
    lun_ = 9;
    Data data;
    data.inquiry = inquiry_data(0x7f);
    const Error error = refused(FakeTarget(data));
    EXPECT_EQ(error.code, ENODEV);
    EXPECT_EQ(error.text, "LUN 9: there is no logical unit behind this LUN (peripheral qualifier 3); there "
                          "are: 0, 5");
}

/// LIO refuses all commands to a LUN that it does not have.
TEST_F(BringUp, understands_a_target_that_refuses_every_command_to_no_unit) {
    lun_ = 9;
    Data data;
    data.refused = {{scsi_opcode::kInquiry, kNoUnit}, {scsi_opcode::kTestUnitReady, kNoUnit}};
    const Error error = refused(FakeTarget(data));
    EXPECT_EQ(error.code, ENODEV);
    EXPECT_EQ(error.text, "LUN 9: the target refuses INQUIRY with status 02h, sense 5/25/00 (logical unit "
                          "not supported); there are: 0, 5");
}

TEST_F(BringUp, takes_no_unit_that_is_no_disk) {
    Data data;
    data.inquiry = inquiry_data(0x0c);
    EXPECT_EQ(refused(FakeTarget(data)).code, EMEDIUMTYPE);
}

TEST_F(BringUp, takes_no_blocks_of_an_odd_size) {
    Data data;
    data.capacity = capacity_data(100, 520);
    const Error error = refused(FakeTarget(data));
    EXPECT_EQ(error.code, EMEDIUMTYPE);
    EXPECT_THAT(error.text, HasSubstr("blocks of 520 bytes"));
}

TEST_F(BringUp, says_which_command_was_refused) {
    Data data;
    data.refused = {{scsi_opcode::kServiceActionIn16, sense(4, 0x44, 0)}};
    const Error error = refused(FakeTarget(data));
    EXPECT_EQ(error.code, EIO);
    EXPECT_EQ(
        error.text,
        "the target refuses READ CAPACITY(16) with status 02h, sense 4/44/00 (internal target failure)");
}

TEST_F(BringUp, says_which_command_was_not_answered) {
    Data data;
    data.silent = {scsi_opcode::kServiceActionIn16};
    FakeTarget target(data);
    std::optional<Connected> session;
    net::spawn<Connected>(connecting(target.address()), [&](Connected done) { session = std::move(done); });
    ASSERT_TRUE(run_until([&] { return target.received(scsi_opcode::kServiceActionIn16) == 1; }));
    clock_.leap(options_.connect_timeout);
    ASSERT_TRUE(run_until([&] { return session.has_value(); }));
    ASSERT_FALSE(*session);
    EXPECT_EQ(session->error().code, ETIMEDOUT);
    EXPECT_THAT(session->error().text, HasSubstr("no answer to READ CAPACITY(16) within "));
}

TEST_F(BringUp, says_where_the_connection_broke) {
    Data data;
    data.silent = {scsi_opcode::kMaintenanceIn};
    FakeTarget target(data);
    std::optional<Connected> session;
    net::spawn<Connected>(connecting(target.address()), [&](Connected done) { session = std::move(done); });
    ASSERT_TRUE(run_until([&] { return target.received(scsi_opcode::kMaintenanceIn) == 1; }));
    target.close();
    ASSERT_TRUE(run_until([&] { return session.has_value(); }));
    ASSERT_FALSE(*session);
    EXPECT_THAT(session->error().text, HasSubstr("REPORT TARGET PORT GROUPS failed: "));
}

TEST_F(BringUp, can_be_given_up) {
    Data data;
    data.silent = {scsi_opcode::kServiceActionIn16};
    FakeTarget target(data);
    net::Cancellation cancellation;
    std::optional<Connected> session;
    net::spawn<Connected>(connecting(target.address(), &cancellation),
                          [&](Connected done) { session = std::move(done); });
    ASSERT_TRUE(run_until([&] { return target.received(scsi_opcode::kServiceActionIn16) == 1; }));
    cancellation.request();
    ASSERT_TRUE(run_until([&] { return session.has_value(); }));
    ASSERT_FALSE(*session);
    EXPECT_EQ(session->error().code, ECANCELED);
}

} // namespace
} // namespace mpath::iscsi::test
