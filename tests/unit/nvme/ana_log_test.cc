// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/ana_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/ana_log_bytes.h"

namespace mpath::nvme {
namespace {

using test::ana_log_bytes;
using test::RawGroup;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr AnaLimits kLimits{/*max_group=*/128, /*max_namespaces=*/1024};

/// The states of a log, which must be whole.
AnaLog decoded(const std::vector<std::byte>& bytes) {
    auto part = decode_ana_log(bytes, kLimits);
    EXPECT_TRUE(part) << part.error().text;
    EXPECT_TRUE(part && part->log);
    return part && part->log ? *part->log : AnaLog{};
}

TEST(AnaLog, every_state_has_the_kernels_word) {
    const AnaLog log =
        decoded(ana_log_bytes(7, {{1, 0x1, {}}, {2, 0x2, {}}, {3, 0x3, {}}, {4, 0x4, {}}, {5, 0xf, {}}}));
    ASSERT_EQ(log.groups.size(), 5U);
    EXPECT_EQ(log.change_count, 7U);
    EXPECT_EQ(log.groups[0].state, PathState::optimized);
    EXPECT_EQ(log.groups[1].state, PathState::non_optimized);
    EXPECT_EQ(log.groups[2].state, PathState::inaccessible);
    EXPECT_EQ(log.groups[3].state, PathState::persistent_loss);
    EXPECT_EQ(log.groups[4].state, PathState::change);
}

TEST(AnaLog, the_upper_half_of_the_state_byte_is_reserved) {
    EXPECT_EQ(decoded(ana_log_bytes(1, {{1, 0xa2, {}}})).groups[0].state, PathState::non_optimized);
}

TEST(AnaLog, a_group_is_found_by_the_namespaces_it_lists) {
    const AnaLog log = decoded(ana_log_bytes(1, {{1, 1, {1, 3}}, {2, 2, {2, 4}}}));
    EXPECT_EQ(log.group_of(4, 0)->id, 2U);
    EXPECT_EQ(log.group_of(3, 2)->id, 1U) << "the log is newer than Identify Namespace";
}

TEST(AnaLog, a_namespace_nobody_lists_is_in_the_group_it_was_identified_with) {
    const AnaLog log = decoded(ana_log_bytes(1, {{1, 1, {}}, {2, 3, {}}}));
    EXPECT_EQ(log.group_of(9, 2)->state, PathState::inaccessible);
    EXPECT_EQ(log.group_of(9, 5), nullptr);
}

/// Linux lost its place in a log when a descriptor listed a namespace that the controller lacks.
TEST(AnaLog, namespaces_unknown_here_do_not_shift_the_rest) {
    const AnaLog log = decoded(ana_log_bytes(1, {{1, 1, {1, 2, 3, 4}}, {2, 3, {5}}}));
    EXPECT_THAT(log.groups[0].nsids, ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(log.group_of(5, 0)->state, PathState::inaccessible);
}

TEST(AnaLog, groups_without_namespaces_count_as_groups) {
    EXPECT_EQ(decoded(ana_log_bytes(1, {{1, 1, {}}, {2, 1, {}}, {3, 2, {8}}})).groups.size(), 3U);
}

TEST(AnaLog, bytes_behind_the_last_group_are_ignored) {
    auto bytes = ana_log_bytes(1, {{1, 1, {1}}});
    bytes.resize(4096, std::byte{0xee});
    EXPECT_EQ(decoded(bytes).groups.size(), 1U);
}

/// Read in pieces: whatever is missing, the decoder says how far it has to go at least.
TEST(AnaLog, any_beginning_of_a_log_asks_for_more) {
    const auto whole = ana_log_bytes(1, {{1, 1, {1, 2, 3}}, {2, 2, {}}, {3, 3, {4, 5}}});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto part = decode_ana_log(std::span(whole).first(size), kLimits);
        ASSERT_TRUE(part) << size << ": " << part.error().text;
        EXPECT_FALSE(part->log) << size;
        EXPECT_GT(part->needs, size);
        EXPECT_LE(part->needs, whole.size());
    }
}

TEST(AnaLog, three_hundred_namespaces_in_one_group) {
    std::vector<std::uint32_t> nsids(300);
    for (std::uint32_t i = 0; i < nsids.size(); ++i) {
        nsids[i] = i + 1;
    }
    EXPECT_EQ(decoded(ana_log_bytes(1, {{1, 2, nsids}})).group_of(300, 0)->state, PathState::non_optimized);
}

struct Garbage {
    const char* name;
    std::vector<std::byte> bytes;
    const char* sentence;
};

std::vector<std::byte> with_nsids(std::uint32_t said) {
    auto bytes = ana_log_bytes(1, {{1, 1, {}}});
    const Le32 count(said);
    std::memcpy(bytes.data() + sizeof(AnaLogHeader) + offsetof(AnaGroupDescriptor, nsids), &count,
                sizeof count);
    return bytes;
}

/// More groups than there are: the next "descriptor" is the zeroes behind the log.
std::vector<std::byte> with_groups(std::uint16_t said) {
    auto bytes = ana_log_bytes(1, {{1, 1, {1}}});
    const Le16 count(said);
    std::memcpy(bytes.data() + offsetof(AnaLogHeader, groups), &count, sizeof count);
    bytes.resize(4096);
    return bytes;
}

class AnaLogGarbage : public testing::TestWithParam<Garbage> {};

TEST_P(AnaLogGarbage, is_refused_whole) {
    const auto part = decode_ana_log(GetParam().bytes, kLimits);
    ASSERT_FALSE(part);
    EXPECT_EQ(part.error().code, EPROTO);
    EXPECT_THAT(part.error().text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AnaLogGarbage,
    testing::Values(Garbage{"group_0", ana_log_bytes(1, {{0, 1, {}}}), "byte 16 has group 0"},
                    Garbage{"group_above_anagrpmax", ana_log_bytes(1, {{1, 1, {7}}, {129, 1, {}}}),
                            "byte 52 has group 129"},
                    Garbage{"group_twice", ana_log_bytes(1, {{4, 1, {}}, {4, 2, {}}}),
                            "group 4 is there twice"},
                    Garbage{"state_0", ana_log_bytes(1, {{1, 0, {}}}), "state 0h"},
                    Garbage{"state_5", ana_log_bytes(1, {{1, 5, {}}}), "state 5h"},
                    Garbage{"state_7", ana_log_bytes(1, {{1, 7, {}}}), "state 7h"},
                    Garbage{"state_e", ana_log_bytes(1, {{1, 0xe, {}}}), "state Eh"},
                    Garbage{"more_namespaces_than_nn", with_nsids(1025),
                            "group 1 has 1025 namespaces, the controller 1024"},
                    Garbage{"namespaces_beyond_any_log", with_nsids(0xffffffff), "4294967295 namespaces"},
                    Garbage{"ngrps_too_many", with_groups(2), "byte 52 has group 0"}),
    [](const auto& row) { return row.param.name; });

} // namespace
} // namespace mpath::nvme
