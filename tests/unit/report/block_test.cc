// SPDX-License-Identifier: GPL-2.0-only
#include "run/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "records.h"

namespace mpath::run {
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

TEST(Report, SaysUnderWhichConditionsBeforeTheNumbers) {
    const std::string text = render(blocks_of(std::vector{record_of({})}));
    EXPECT_THAT(text, HasSubstr("host h1, Linux 6.1.0, fio-3.33, fio-mpath 0.1.0, net io_uring\n"
                                "randread of 4096 bytes, depth 8, round-robin (linux-6.11)\n"
                                "each path: 1 queue of 128 entries, header digest off, data digest on\n"
                                "mpath: job: 1 path, round-robin, 10.0s measured\n"));
}

TEST(Report, NamesTheHostOnceAndTheServerInEachBlock) {
    const std::string text =
        render(blocks_of(std::vector{record_of({.server_port = 8801}), record_of({.server_port = 8802})}));
    for (const char* title :
         {"mpath: job on h1,8801: ", "mpath: job on h1,8802: ", "mpath: all of group 0 on all hosts: "}) {
        EXPECT_THAT(text, HasSubstr(title));
    }
}

TEST(Report, SaysNoConditionsOfASumThatMayDiffer) {
    const std::string text =
        render(blocks_of(std::vector{record_of({.name = "a"}), record_of({.name = "b"})}));
    EXPECT_THAT(text, HasSubstr("\n\nmpath: all of group 0: 1 path, round-robin, 2 jobs"));
}

TEST(Report, ShowsWhatNobodyKnowsAsADash) {
    record::Record record = record_of({});
    record.conditions.net_backend.reset();
    record.conditions.paths[0].header_digest.reset();
    const std::string text = render(blocks_of(std::vector{record}));
    EXPECT_THAT(text, HasSubstr("net –\n"));
    EXPECT_THAT(text, HasSubstr("header digest –"));
}

/// A job that lost its path in the middle.
record::Record record_with_gap(Nanoseconds gap, const JobShape& shape = {}) {
    record::Record record = record_of(shape);
    record.results.events = {{1'790'000'000 * kSecond, record.results.measured_from + 2 * kSecond, 0,
                              record::EventKind::lost, "connection reset by peer"}};
    record.results.events[0].gap = gap;
    record.results.events[0].requeues = 8;
    record.results.paths[0].requeues = 8;
    return record;
}

TEST(Report, TellsTheEventsOfAllJobsAndTheirLongestGaps) {
    const std::string text = render(blocks_of(std::vector{
        record_with_gap(kSecond, {.thread_number = 1}), record_with_gap(2 * kSecond, {.thread_number = 2})}));
    EXPECT_THAT(text, HasSubstr("14:13:20.000Z  +2.000s  a of job#1  lost: connection reset by peer; "
                                "failover gap 1.00s, 8 requeued\n"
                                "14:13:20.000Z  +2.000s  a of job#2  lost: connection reset by peer; "
                                "failover gap 2.00s, 8 requeued\n"
                                "longest gaps 2.00s (a of job#2), 1.00s (a of job#1); "
                                "longest response time 100µs\n"));
}

TEST(Report, NamesTheServerOfAnEventWhereJobsOfSeveralAreToldTogether) {
    const std::string text = render(blocks_of(std::vector{record_with_gap(kSecond, {.server_port = 8801}),
                                                          record_with_gap(kSecond, {.server_port = 8802})}));
    EXPECT_THAT(text, HasSubstr("  +2.000s  a  lost: connection reset by peer; "))
        << "in a server's own block";
    EXPECT_THAT(text, HasSubstr("  +2.000s  a of job#1 on h1,8801  lost: connection reset by peer"));
    EXPECT_THAT(text, HasSubstr("  +2.000s  a of job#1 on h1,8802  lost: connection reset by peer"));
}

TEST(Report, LaysTheEventsOfRepeatsOneAfterTheOther) {
    const std::vector<std::vector<Block>> repeats{
        blocks_of(std::vector{record_with_gap(kSecond, {.from = 5 * kSecond})}),
        blocks_of(std::vector{record_with_gap(kSecond, {.from = 500 * kSecond})})};
    const std::string text = render(merge_repeats(repeats));
    EXPECT_THAT(text, HasSubstr("+2.000s  a  lost"));
    EXPECT_THAT(text, HasSubstr("+12.000s  a  lost")) << "the second run begins at 10 s";
}

/// A job that was in two settings for 4 s each.
record::Record steered_record(const JobShape& shape = {}) {
    record::Record record = record_of(shape);
    record::JobResult& result = record.results;
    record.conditions.steering = record::Steering{"round-robin@1s,numa@1s", "shuffle", 500 * kMillisecond, 7};
    result.settings = {{"round-robin", 4 * kSecond, 1, 4, 0}, {"numa", 4 * kSecond, 1, 4, 1}};
    result.paths[0].settings.push_back({"numa", result.paths[0].settings[0].operations});
    return record;
}

TEST(Report, TellsTheScheduleAndEachSetting) {
    const std::string text = render(blocks_of(std::vector{steered_record()}));
    EXPECT_THAT(text, HasSubstr("round-robin (linux-6.11)\n"
                                "steer round-robin@1s,numa@1s, shuffle (seed 7), settle 500ms\n"));
    EXPECT_THAT(text, HasSubstr("mpath: job: 1 path, 2 settings, 10.0s measured\n"));
    EXPECT_THAT(text, HasSubstr("setting numa: 4 visits, 1 of them disturbed, 4.00s steady\n"
                                "a     100.0%  read   250"));
}

TEST(Report, AddsTheSteadyTimesOfRepeats) {
    const std::vector<std::vector<Block>> repeats{
        blocks_of(std::vector{steered_record({.from = 5 * kSecond})}),
        blocks_of(std::vector{steered_record({.from = 500 * kSecond})})};
    EXPECT_THAT(render(merge_repeats(repeats)),
                HasSubstr("setting numa: 8 visits, 2 of them disturbed, 8.00s steady\n"
                          "a     100.0%  read   250"));
}

TEST(Report, ComparesThePoliciesOfJobsThatRanTogether) {
    record::Record other = record_of({.name = "b"});
    other.results.paths[0].settings[0].name = "numa";
    const std::string text = render(blocks_of(std::vector{record_of({.name = "a"}), other}));
    EXPECT_THAT(text, HasSubstr("mpath: all of group 0: 1 path, 2 settings, 2 jobs"));
    EXPECT_THAT(text, HasSubstr("setting numa: 1 visit, 10.0s steady\n"));
}

TEST(Report, SaysNothingOfFailoverWhereThereWasNone) {
    EXPECT_THAT(render(blocks_of(std::vector{record_of({})})), testing::Not(HasSubstr("longest")));
}

TEST(JobsWithoutIo, AreThoseThatCompletedNone) {
    EXPECT_THAT(jobs_without_io(std::vector{record_of({.name = "a"}), record_of({.name = "b", .reads = 0})}),
                ElementsAre("b"));
}

} // namespace
} // namespace mpath::run
