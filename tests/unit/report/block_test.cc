// SPDX-License-Identifier: GPL-2.0-only
#include "report/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const std::vector<Block>& blocks) {
    std::vector<std::string> all;
    for (const Block& block : blocks) {
        all.push_back(block.report.result.name + (block.host.empty() ? "" : "@" + block.host));
    }
    return all;
}

std::uint64_t reads(const Block& block) {
    return block.report.result.paths.at(0).operations().of(Operation::read).count();
}

TEST(Blocks, MergeTheJobsOfASection) {
    const auto blocks =
        blocks_of(std::vector{record_of({.thread_number = 1}), record_of({.thread_number = 2})});
    ASSERT_EQ(blocks.size(), 1);
    EXPECT_EQ(reads(blocks[0]), 2000);
    EXPECT_EQ(blocks[0].report.result.jobs, 2);
    EXPECT_EQ(blocks[0].report.result.measured(), 10 * kSecond);
}

TEST(Blocks, KeepSectionsAndGroupsApart) {
    EXPECT_THAT(names(blocks_of(
                    std::vector{record_of({.name = "a", .group = 0}), record_of({.name = "b", .group = 1})})),
                ElementsAre("a", "b"));
}

TEST(Blocks, AddOneForAllThatRanTogetherOnADevice) {
    const auto blocks = blocks_of(std::vector{record_of({.name = "a"}), record_of({.name = "b"}),
                                              record_of({.name = "c", .device = "uuid 2"})});
    EXPECT_THAT(names(blocks), ElementsAre("a", "b", "all of group 0", "c"));
    EXPECT_EQ(reads(blocks[2]), 2000);
}

TEST(Blocks, TellTheServersOfOneHostApart) {
    const auto blocks =
        blocks_of(std::vector{record_of({.server_port = 8801}), record_of({.server_port = 8802})});
    EXPECT_THAT(names(blocks), ElementsAre("job@h1,8801", "job@h1,8802", "all of group 0@all hosts"));
    EXPECT_EQ(reads(blocks[2]), 2000);
}

TEST(Blocks, TakeJobsOfOtherHostsToHaveBegunTogether) {
    // Their monotonic clocks have nothing to do with ours.
    const auto blocks =
        blocks_of(std::vector{record_of({.host = "h1", .server_port = 1, .from = 5 * kSecond}),
                              record_of({.host = "h2", .server_port = 1, .from = 9000 * kSecond})});
    ASSERT_EQ(blocks.size(), 3);
    EXPECT_EQ(blocks[2].report.result.measured(), 10 * kSecond);
}

TEST(Repeats, AddCountsAndMeasuredTime) {
    const std::vector<std::vector<Block>> repeats{
        blocks_of(std::vector{record_of({.from = 5 * kSecond})}),
        blocks_of(std::vector{record_of({.from = 500 * kSecond})}),
        blocks_of(std::vector{record_of({.reads = 0, .from = 0, .measured = 0})})};
    const auto merged = merge_repeats(repeats);
    ASSERT_EQ(merged.size(), 1);
    EXPECT_EQ(reads(merged[0]), 2000);
    EXPECT_EQ(merged[0].report.result.measured(), 20 * kSecond);
    EXPECT_EQ(merged[0].report.result.jobs, 1);
}

TEST(JobsWithoutIo, AreThoseThatCompletedNone) {
    EXPECT_THAT(jobs_without_io(run_of({record_of({.name = "a"}), record_of({.name = "b", .reads = 0})})),
                ElementsAre("b"));
}

} // namespace
} // namespace mpath::report
