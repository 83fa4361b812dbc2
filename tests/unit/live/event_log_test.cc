// SPDX-License-Identifier: GPL-2.0-only
#include "live/event_log.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace mpath::live {
namespace {

using record::EventKind;

TEST(EventLog, KeepsEventsInOrder) {
    auto log = std::make_unique<EventLog>();
    EXPECT_EQ(log->add(1, 11, 0, EventKind::lost, "reset by peer"), 0U);
    EXPECT_EQ(log->add(2, 12, record::kNoPath, EventKind::refused, ""), 1U);
    EXPECT_EQ(log->events(), (std::vector<record::Event>{{11, 1, 0, EventKind::lost, "reset by peer"},
                                                         {12, 2, record::kNoPath, EventKind::refused, ""}}));
    EXPECT_EQ(log->dropped(), 0U);
}

TEST(EventLog, KeepsTheFirstAndCountsTheRest) {
    auto log = std::make_unique<EventLog>();
    for (std::uint32_t number = 0; number < EventLog::kCapacity + 5; ++number) {
        log->add(number, number, 0, EventKind::state, "x");
    }
    EXPECT_EQ(log->add(0, 0, 0, EventKind::lost, "y"), EventLog::kNoEvent);
    EXPECT_EQ(log->events().size(), EventLog::kCapacity);
    EXPECT_EQ(log->events().back().monotonic, EventLog::kCapacity - 1);
    EXPECT_EQ(log->dropped(), 6U);
}

TEST(EventLog, LearnsLaterWhatAnEventDidToTheIo) {
    auto log = std::make_unique<EventLog>();
    const EventLog::Handle lost = log->add(1, 11, 0, EventKind::lost, "");
    const EventLog::Handle idle = log->add(2, 12, 1, EventKind::lost, "");
    log->add(3, 13, 1, EventKind::state, "");
    EXPECT_EQ(log->events()[0].requeues, std::nullopt) << "not known yet";
    log->set_failover(lost, 1234, 32, 2);
    log->set_failover(idle, std::nullopt, 0);
    log->set_failover(EventLog::kNoEvent, 5, 5);
    const auto events = log->events();
    EXPECT_EQ(events[0].gap, 1234U);
    EXPECT_EQ(events[0].requeues, 32U);
    EXPECT_EQ(events[0].exposed_writes, 2U);
    EXPECT_EQ(events[1].gap, std::nullopt) << "no I/O was outstanding";
    EXPECT_EQ(events[1].requeues, 0U);
    EXPECT_EQ(events[1].exposed_writes, std::nullopt);
    EXPECT_EQ(events[2].requeues, std::nullopt);
}

TEST(EventLog, LearnsLaterHowLongAnEventTookToBeNoticed) {
    auto log = std::make_unique<EventLog>();
    log->add(1, 11, 0, EventKind::lost, "");
    log->set_detection(log->add(2, 12, 1, EventKind::lost, ""), 700);
    log->set_detection(EventLog::kNoEvent, 5);
    EXPECT_EQ(log->events()[0].detection, std::nullopt);
    EXPECT_EQ(log->events()[1].detection, 700U);
}

TEST(EventLog, TakesEventsFromTwoThreadsWhileAThirdReads) {
    auto log = std::make_unique<EventLog>();
    const auto write = [&](std::uint16_t path) {
        for (std::uint64_t number = 1; number <= 60; ++number) {
            const auto event = log->add(path, path, path, EventKind::state, path == 0 ? "zero" : "one");
            log->set_failover(event, 1000 * number, number);
        }
    };
    std::thread keeper(write, 0);
    std::thread io(write, 1);
    for (int round = 0; round < 100; ++round) {
        for (const record::Event& event : log->events()) {
            ASSERT_EQ(event.text, event.path == 0 ? "zero" : "one");
            if (event.requeues) {
                ASSERT_EQ(event.gap, *event.requeues * 1000) << "all of it or nothing";
            }
        }
    }
    keeper.join();
    io.join();
    EXPECT_EQ(log->events().size(), 120U);
}

} // namespace
} // namespace mpath::live
