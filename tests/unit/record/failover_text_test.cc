// SPDX-License-Identifier: GPL-2.0-only
// What is told below a table: one test for each line, each line only when something happened.
#include "record/failover_text.h"

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/table.h"
#include "record/text.h"
#include "sample_record.h"

namespace mpath::record {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// 2.5 s after the sample job began to measure.
Event lost(std::string text = "connection reset by peer") {
    return {1'790'000'000'123'456'789, 7'500 * kMillisecond, 1, EventKind::lost, std::move(text)};
}

JobResult job_with(std::vector<Event> events) {
    JobResult job = sample_report().result;
    job.events = std::move(events);
    return job;
}

TEST(EventLines, NameTheJobWhereThereAreSeveral) {
    Event event = lost();
    event.gap = kSecond;
    event.job = "verify#2";
    const JobResult job = job_with({event});
    EXPECT_THAT(event_lines(job), HasSubstr("  p1 of verify#2  lost: connection reset by peer"));
    EXPECT_THAT(failover_lines(job), HasSubstr("longest gap 1.00s (p1 of verify#2)"));
}

struct EventText {
    const char* what;
    Event event;
    const char* lines;
};

TEST(EventLines, SayWhenWhereWhatWhyAndWhatItDid) {
    Event nothing = lost();
    nothing.requeues = 0;
    nothing.exposed_writes = 0;
    Event gap = lost();
    gap.gap = 1'234 * kMillisecond;
    gap.requeues = 32;
    gap.exposed_writes = 2;
    Event one = lost();
    one.gap = 20 * kMillisecond;
    one.requeues = 1;
    one.exposed_writes = 1;
    Event noticed = lost("keep-alive timed out");
    noticed.detection = 5 * kSecond;
    noticed.requeues = 7;
    Event everything = lost("no answer within the keep-alive time of 5 s");
    everything.detection = 5 * kSecond;
    everything.gap = 6 * kSecond;
    everything.requeues = 123'456;
    everything.exposed_writes = 99;
    Event given_up = lost("ctrl_loss_tmo");
    given_up.kind = EventKind::given_up;
    given_up.path = kNoPath;
    const EventText cases[] = {
        {"nothing known", lost(), "14:13:20.123Z  +2.500s  p1  lost: connection reset by peer\n"},
        {"nothing done", nothing, "14:13:20.123Z  +2.500s  p1  lost: connection reset by peer\n"},
        {"a gap", gap,
         "14:13:20.123Z  +2.500s  p1  lost: connection reset by peer\n"
         "               failover gap 1.23s, 32 requeued, 2 exposed writes\n"},
        {"one of each", one,
         "14:13:20.123Z  +2.500s  p1  lost: connection reset by peer\n"
         "               failover gap 20.0ms, 1 requeued, 1 exposed write\n"},
        {"fits into one line", noticed,
         "14:13:20.123Z  +2.500s  p1  lost: keep-alive timed out; noticed after 5.00s, 7 requeued\n"},
        {"all of it", everything,
         "14:13:20.123Z  +2.500s  p1  lost: no answer within the keep-alive time of 5 s\n"
         "               noticed after 5.00s, failover gap 6.00s, 123k requeued, 99 exposed writes\n"},
        {"two words, and the job as a whole", given_up,
         "14:13:20.123Z  +2.500s  job  given up: ctrl_loss_tmo\n"},
    };
    for (const EventText& each : cases) {
        EXPECT_EQ(event_lines(job_with({each.event})), each.lines) << each.what;
    }
}

TEST(EventLines, OfAJobThatMeasuredNothingHaveNoTimeSinceItsBegin) {
    JobResult job = job_with({lost()});
    job.measured_from = job.measured_until = 0;
    EXPECT_EQ(event_lines(job), "14:13:20.123Z  –  p1  lost: connection reset by peer\n");
}

/// A path that comes and goes once a second; the gap of event number i is gaps(i).
template <typename Gaps>
JobResult flapping(std::size_t events, Gaps gaps) {
    JobResult job = job_with({});
    for (std::size_t i = 0; i < events; ++i) {
        Event event = lost(fmt::format("number {}", i));
        event.monotonic += i * kSecond;
        event.gap = gaps(i);
        job.events.push_back(event);
    }
    return job;
}

std::size_t count_lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(EventLines, OfAsManyAsAreToldAreAllOfThem) {
    const std::string text = event_lines(flapping(kMostEventsTold, [](std::size_t) { return kSecond; }));
    EXPECT_EQ(count_lines(text), kMostEventsTold);
    EXPECT_THAT(text, Not(HasSubstr("further")));
}

TEST(EventLines, OfMoreAreTheFirstAndThoseWithTheLongestGaps) {
    JobResult job = flapping(500, [](std::size_t i) -> std::optional<Nanoseconds> {
        return i == 400 ? 9 * kSecond : i == 300 ? 3 * kSecond : i % 2 == 0 ? Maybe(kMillisecond) : Maybe();
    });
    job.events_dropped = 70;
    const std::string text = event_lines(job);
    EXPECT_EQ(count_lines(text), kMostEventsTold + 1);
    EXPECT_THAT(text, AllOf(HasSubstr("number 0;"), HasSubstr("number 11\n"), Not(HasSubstr("number 13\n"))));
    EXPECT_THAT(text, HasSubstr("number 300; failover gap 3.00s\n"));
    EXPECT_THAT(text, HasSubstr("number 400; failover gap 9.00s\nand 550 further events\n"));
}

TEST(EventLines, CountOneThatIsNotTold) {
    JobResult job = job_with({lost()});
    job.events_dropped = 1;
    EXPECT_THAT(event_lines(job), EndsWith("\nand 1 further event\n"));
}

TEST(FailoverLines, AreNoneWhereNothingHappened) {
    JobResult job = job_with({});
    job.response.of(Operation::read) = operation(100, 61'000);
    EXPECT_EQ(failover_lines(job), "");
    job.held = HoldResult{};
    job.paths[0].requeue_delay = DelayResult{};
    job.paths[0].retries = 0;
    job.paths[0].exposed_writes = 0;
    Event without_effect = lost();
    without_effect.gap = 0;
    without_effect.requeues = 0;
    job.events = {without_effect};
    EXPECT_EQ(failover_lines(job), "") << "a zero is nothing, too";
}

struct FailoverText {
    const char* what;
    void (*happen)(JobResult&);
    const char* lines;
};

TEST(FailoverLines, SayWhatHappenedAndNothingElse) {
    const FailoverText cases[] = {
        {"a gap",
         [](JobResult& job) {
             job.events = {lost()};
             job.events[0].gap = 1'234 * kMillisecond;
         },
         "longest gap 1.23s (p1)\n"},
        {"three of four gaps, the longest first",
         [](JobResult& job) {
             job.events = flapping(4, [](std::size_t i) { return (i + 1) * kSecond; }).events;
             job.events[2].path = kNoPath;
             job.events[1].path = 0;
         },
         "longest gaps 4.00s (p1), 3.00s (job), 2.00s (p0)\n"},
        {"requeues",
         [](JobResult& job) {
             job.paths[0].requeue_delay = DelayResult{operation(99, 1'000)};
             job.paths[1].requeue_delay = DelayResult{operation(1, 2 * kSecond)};
             job.response.of(Operation::write) = operation(100, 400 * kMillisecond);
             job.response.of(Operation::read) = operation(10, 300 * kMillisecond);
         },
         "longest response time 2.00s; requeue delay p50 1.00µs, max 2.00s\n"},
        {"holds",
         [](JobResult& job) {
             job.held = HoldResult{32, 20 * kSecond, 1'200 * kMillisecond, 0};
         },
         "32 I/Os held, at most 1.20s\n"},
        {"one hold that was in vain",
         [](JobResult& job) {
             job.held = HoldResult{1, 20, 20, 1};
         },
         "1 I/O held, at most 20ns; 1 I/O failed without a path\n"},
        {"retries on both paths",
         [](JobResult& job) {
             job.paths[0].retries = 2;
             job.paths[1].retries = 3;
         },
         "5 I/Os retried on the same path\n"},
        {"exposed writes", [](JobResult& job) { job.paths[1].exposed_writes = 2; }, "2 exposed writes\n"},
        {"everything",
         [](JobResult& job) {
             job.events = flapping(3, [](std::size_t i) { return (i + 1) * kSecond; }).events;
             job.paths[0].requeue_delay = DelayResult{operation(32, kMillisecond)};
             job.paths[0].retries = 4;
             job.paths[0].exposed_writes = 1;
             job.held = HoldResult{32, 20 * kSecond, 1'200 * kMillisecond, 7};
             job.response.of(Operation::write) = operation(100, 400 * kMillisecond);
         },
         "longest gaps 3.00s (p1), 2.00s (p1), 1.00s (p1); longest response time 2.00s;\n"
         "  requeue delay p50 1.00ms, max 1.00ms; 32 I/Os held, at most 1.20s; 7 I/Os failed without a "
         "path;\n"
         "  4 I/Os retried on the same path; 1 exposed write\n"},
    };
    for (const FailoverText& each : cases) {
        JobResult job = job_with({});
        each.happen(job);
        EXPECT_EQ(failover_lines(job), each.lines) << each.what;
    }
}

TEST(FailoverLines, StandBelowTheEventsInTheTable) {
    JobReport report = sample_report();
    report.result.events = {lost()};
    report.result.events[0].gap = kSecond;
    EXPECT_THAT(render_table(report),
                EndsWith("p1  lost: connection reset by peer; failover gap 1.00s\nlongest gap 1.00s (p1)\n"));
}

TEST(EventAndFailoverLines, AreNeverWiderThanAHundredCharacters) {
    constexpr std::uint64_t kMuch = ~std::uint64_t{0};
    JobReport report = sample_report();
    JobResult& job = report.result;
    for (PathResult& path : job.paths) {
        path.name = std::string(200, 'p');
        path.requeue_delay = DelayResult{operation(1, kLargestTime)};
        path.retries = path.exposed_writes = kMuch / 4;
    }
    job.held = HoldResult{kMuch, kMuch, kMuch, kMuch};
    job.events = flapping(50, [](std::size_t) { return kMuch; }).events;
    for (Event& event : job.events) {
        event.detection = event.requeues = event.exposed_writes = kMuch;
        event.text = std::string(200, 'e');
    }
    std::istringstream lines(event_lines(job) + failover_lines(job));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(text_width(line), kTableWidth) << line;
    }
}

} // namespace
} // namespace mpath::record
