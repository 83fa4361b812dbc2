// SPDX-License-Identifier: GPL-2.0-only
#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::HasSubstr;

std::string text_of(std::vector<Run> runs) {
    return to_text(make_report(std::move(runs)));
}

std::string text_of(Run run) {
    std::vector<Run> runs;
    runs.push_back(std::move(run));
    return text_of(std::move(runs));
}

TEST(Text, SaysUnderWhichConditionsBeforeTheNumbers) {
    const std::string text = text_of(run_of({record_of({})}));
    EXPECT_THAT(text, HasSubstr("host h1, Linux 6.1.0, fio-3.33, fio-mpath 0.1.0, net io_uring\n"
                                "randread of 4096 bytes, depth 8, round-robin (linux-6.11)\n"
                                "each path: 1 queue of 128 entries, header digest off, data digest on\n"
                                "written before: not known, no earlier record of this device was given\n"
                                "mpath: job: 1 path, round-robin, 10.0s measured\n"));
}

TEST(Text, NamesTheHostOnceAndTheServerInEachBlock) {
    const std::string text =
        text_of(run_of({record_of({.server_port = 8801}), record_of({.server_port = 8802})}));
    for (const char* title :
         {"mpath: job on h1,8801: ", "mpath: job on h1,8802: ", "mpath: all of group 0 on all hosts: "}) {
        EXPECT_THAT(text, HasSubstr(title));
    }
}

TEST(Text, SaysNoConditionsOfASumThatMayDiffer) {
    const std::string text = text_of(run_of({record_of({.name = "a"}), record_of({.name = "b"})}));
    EXPECT_THAT(text, HasSubstr("\n\nmpath: all of group 0: 1 path, round-robin, 2 jobs"));
}

TEST(Text, ShowsWhatNobodyKnowsAsADash) {
    record::Record record = record_of({});
    record.conditions.net_backend.reset();
    record.conditions.paths[0].header_digest.reset();
    const std::string text = text_of(run_of({record}));
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

TEST(Text, TellsTheEventsOfAllJobsAndTheirLongestGaps) {
    const std::string text = text_of(run_of({record_with_gap(kSecond, {.thread_number = 1}),
                                             record_with_gap(2 * kSecond, {.thread_number = 2})}));
    EXPECT_THAT(text, HasSubstr("14:13:20.000Z  +2.000s  a of job#1  lost: connection reset by peer; "
                                "failover gap 1.00s, 8 requeued\n"
                                "14:13:20.000Z  +2.000s  a of job#2  lost: connection reset by peer; "
                                "failover gap 2.00s, 8 requeued\n"
                                "longest gaps 2.00s (a of job#2), 1.00s (a of job#1); "
                                "longest response time 100µs\n"));
}

TEST(Text, NamesTheServerOfAnEventWhereJobsOfSeveralAreToldTogether) {
    const std::string text = text_of(run_of(
        {record_with_gap(kSecond, {.server_port = 8801}), record_with_gap(kSecond, {.server_port = 8802})}));
    EXPECT_THAT(text, HasSubstr("  +2.000s  a  lost: connection reset by peer; "))
        << "in a server's own block";
    EXPECT_THAT(text, HasSubstr("  +2.000s  a of job#1 on h1,8801  lost: connection reset by peer"));
    EXPECT_THAT(text, HasSubstr("  +2.000s  a of job#1 on h1,8802  lost: connection reset by peer"));
}

TEST(Text, LaysTheEventsOfRepeatsOneAfterTheOther) {
    const std::vector<report::Run> repeats{run_of({record_with_gap(kSecond, {.from = 5 * kSecond})}),
                                           run_of({record_with_gap(kSecond, {.from = 500 * kSecond})})};
    const std::string text = text_of(repeats);
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

TEST(Text, TellsTheScheduleAndEachSetting) {
    const std::string text = text_of(run_of({steered_record()}));
    EXPECT_THAT(text, HasSubstr("round-robin (linux-6.11)\n"
                                "steer round-robin@1s,numa@1s, shuffle (seed 7), settle 500ms\n"));
    EXPECT_THAT(text, HasSubstr("mpath: job: 1 path, 2 settings, 10.0s measured\n"));
    EXPECT_THAT(text, HasSubstr("setting numa: 4 visits, 1 of them disturbed, 4.00s steady\n"
                                "a     100.0%  read   250"));
}

TEST(Text, AddsTheSteadyTimesOfRepeats) {
    const std::vector<report::Run> repeats{run_of({steered_record({.from = 5 * kSecond})}),
                                           run_of({steered_record({.from = 500 * kSecond})})};
    EXPECT_THAT(text_of(repeats), HasSubstr("setting numa: 8 visits, 2 of them disturbed, 8.00s steady\n"
                                            "a     100.0%  read   250"));
}

TEST(Text, ComparesThePoliciesOfJobsThatRanTogether) {
    record::Record other = record_of({.name = "b"});
    other.results.paths[0].settings[0].name = "numa";
    const std::string text = text_of(run_of({record_of({.name = "a"}), other}));
    EXPECT_THAT(text, HasSubstr("mpath: all of group 0: 1 path, 2 settings, 2 jobs"));
    EXPECT_THAT(text, HasSubstr("setting numa: 1 visit, 10.0s steady\n"));
}

TEST(Text, SaysNothingOfFailoverWhereThereWasNone) {
    EXPECT_THAT(text_of(run_of({record_of({})})), testing::Not(HasSubstr("longest")));
}

} // namespace
} // namespace mpath::report
