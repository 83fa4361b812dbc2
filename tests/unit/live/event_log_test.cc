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
    log->add(1, 11, 0, EventKind::lost, "reset by peer");
    log->add(2, 12, record::kNoPath, EventKind::refused, "");
    EXPECT_EQ(log->events(), (std::vector<record::Event>{{11, 1, 0, EventKind::lost, "reset by peer"},
                                                         {12, 2, record::kNoPath, EventKind::refused, ""}}));
    EXPECT_EQ(log->dropped(), 0U);
}

TEST(EventLog, KeepsTheFirstAndCountsTheRest) {
    auto log = std::make_unique<EventLog>();
    for (std::uint32_t number = 0; number < EventLog::kCapacity + 5; ++number) {
        log->add(number, number, 0, EventKind::state, "x");
    }
    EXPECT_EQ(log->events().size(), EventLog::kCapacity);
    EXPECT_EQ(log->events().back().monotonic, EventLog::kCapacity - 1);
    EXPECT_EQ(log->dropped(), 5U);
}

TEST(EventLog, TakesEventsFromTwoThreadsWhileAThirdReads) {
    auto log = std::make_unique<EventLog>();
    const auto write = [&](std::uint16_t path) {
        for (int count = 0; count < 60; ++count) {
            log->add(path, path, path, EventKind::state, path == 0 ? "zero" : "one");
        }
    };
    std::thread keeper(write, 0);
    std::thread io(write, 1);
    for (int round = 0; round < 100; ++round) {
        for (const record::Event& event : log->events()) {
            ASSERT_EQ(event.text, event.path == 0 ? "zero" : "one");
        }
    }
    keeper.join();
    io.join();
    EXPECT_EQ(log->events().size(), 120U);
}

} // namespace
} // namespace mpath::live
