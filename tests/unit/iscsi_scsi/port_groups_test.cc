// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/port_groups.h"
#include "iscsi/sense.h"

#include <gtest/gtest.h>

#include "tests/unit/iscsi_scsi/hex_bytes.h"

namespace mpath::iscsi::test {
namespace {

constexpr std::string_view kPreferredGroup = "80 ff 0001 00 02 00 02 0000 0001 0000 0002";
constexpr std::string_view kStandbyGroup = "02 ff 0a0b 00 00 00 01 0000 0103";

PortGroups two_groups() {
    return {{{1, AluaState::active_optimized, true, {1, 2}}, {0xa0b, AluaState::standby, false, {0x103}}}, 0};
}

/// As Linux 6.12 answers: 4 bytes less than its two groups take, because of the extended header.
TEST(PortGroupsOfLinux, have_the_last_groups_ports_cut_off) {
    const auto found = parse_port_groups(
        hex("00000018 10 00 0000 00 cf 0001 00 00 00 01 0000 0001 02 cf 0002 00 02 00 01"), true);
    ASSERT_TRUE(found) << found.error().text;
    ASSERT_EQ(found->groups.size(), 2U);
    EXPECT_EQ(found->groups[0].ports, (std::vector<std::uint16_t>{1}));
    EXPECT_EQ(found->groups[1].id, 2);
    EXPECT_EQ(found->groups[1].state, AluaState::standby);
    EXPECT_TRUE(found->groups[1].ports.empty());
}

TEST(PortGroups, are_read_from_a_plain_answer) {
    const auto found = parse_port_groups(hex("0000001c") + hex(kPreferredGroup) + hex(kStandbyGroup), false);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(*found, two_groups());
}

TEST(PortGroups, are_read_from_an_extended_answer_with_the_time_of_a_transition) {
    const auto found =
        parse_port_groups(hex("00000020 10 3c 0000") + hex(kPreferredGroup) + hex(kStandbyGroup), true);
    ASSERT_TRUE(found) << found.error().text;
    PortGroups expected = two_groups();
    expected.transition_time = 60 * kSecond;
    EXPECT_EQ(*found, expected);
}

TEST(PortGroups, are_read_where_the_target_does_not_extend_its_answer) {
    const auto found = parse_port_groups(hex("0000001c") + hex(kPreferredGroup) + hex(kStandbyGroup), true);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(*found, two_groups());
}

TEST(PortGroups, may_have_no_port_and_any_state) {
    const auto found = parse_port_groups(hex("00000010 0f ff 0001 00000000 0d ff 0002 00000000"), false);
    ASSERT_TRUE(found) << found.error().text;
    ASSERT_EQ(found->groups.size(), 2U);
    EXPECT_EQ(found->groups[0].state, AluaState::transitioning);
    EXPECT_EQ(own_name(found->groups[1].state), "reserved");
}

TEST(PortGroups, end_where_the_answer_says) {
    const auto found = parse_port_groups(hex("00000010") + hex(kPreferredGroup) + hex("ff ff"), false);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->groups.size(), 1U);
}

TEST(PortGroups, refuse_a_list_that_is_none) {
    const std::pair<Bytes, std::string> cases[] = {
        {{}, "REPORT TARGET PORT GROUPS brought no list"},
        {hex("000000"), "REPORT TARGET PORT GROUPS brought no list"},
        {hex("00000000"), "REPORT TARGET PORT GROUPS lists no group"},
        {hex("00000004 10 3c 0000"), "REPORT TARGET PORT GROUPS lists no group"},
        {hex("00000002 10 3c 0000"), "REPORT TARGET PORT GROUPS ends within a group"},
        {hex("00000008 80 ff 0001"), "REPORT TARGET PORT GROUPS ends within a group"},
    };
    for (const auto& [data, sentence] : cases) {
        const auto found = parse_port_groups(data, true);
        ASSERT_FALSE(found) << sentence;
        EXPECT_EQ(found.error().code, EPROTO);
        EXPECT_EQ(found.error().text, sentence);
    }
}

TEST(AluaStates, have_the_words_of_every_protocol_and_their_own) {
    const struct {
        AluaState alua;
        PathState state;
        std::string_view name;
    } cases[] = {
        {AluaState::active_optimized, PathState::optimized, ""},
        {AluaState::active_non_optimized, PathState::non_optimized, ""},
        {AluaState::standby, PathState::inaccessible, "standby"},
        {AluaState::unavailable, PathState::inaccessible, "unavailable"},
        {AluaState::lba_dependent, PathState::non_optimized, "LBA dependent"},
        {AluaState::offline, PathState::inaccessible, "offline"},
        {AluaState::transitioning, PathState::change, "transitioning"},
        {static_cast<AluaState>(7), PathState::inaccessible, "reserved"},
    };
    for (const auto& row : cases) {
        EXPECT_EQ(path_state(row.alua), row.state) << row.name;
        EXPECT_EQ(own_name(row.alua), row.name);
    }
}

TEST(AccessState, is_what_a_command_was_refused_for) {
    const std::pair<Sense, std::optional<AluaState>> cases[] = {
        {{0x02, 2, 0x04, 0x0a, false}, AluaState::transitioning},
        {{0x02, 6, 0x04, 0x0a, false}, AluaState::transitioning},
        {{0x02, 2, 0x04, 0x0b, false}, AluaState::standby},
        {{0x02, 2, 0x04, 0x0c, false}, AluaState::unavailable},
        {{0x02, 2, 0x04, 0x12, false}, AluaState::offline},
        {{0x02, 2, 0x04, 0x01, false}, std::nullopt},
        {{0x02, 2, 0x3a, 0x0b, false}, std::nullopt},
        {{0x02, 5, 0x04, 0x0b, false}, std::nullopt},
        {{0x08, 0, 0, 0, false}, std::nullopt},
    };
    for (const auto& [sense, state] : cases) {
        EXPECT_EQ(refused_for(sense), state) << status_text(sense);
    }
}

} // namespace
} // namespace mpath::iscsi::test
