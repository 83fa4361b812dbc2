// SPDX-License-Identifier: GPL-2.0-only
#include "live/visit_log.h"

#include <memory>

#include <gtest/gtest.h>

namespace mpath::live {
namespace {

constexpr auto kRead = static_cast<std::size_t>(Operation::read);

TEST(VisitLog, KeepsTheLatestAndAddsUpTheOthers) {
    const auto log = std::make_unique<VisitLog>(); // zero bytes, as in the control block
    constexpr std::uint64_t kVisits = 3 * VisitLog::kCapacity + 7;
    for (std::uint64_t number = 1; number <= kVisits; ++number) {
        VisitSlot& visit = log->begin();
        EXPECT_EQ(visit.number.get(), number);
        visit.transition.add(Operation::read, number, 512);
        visit.steady.add(Operation::read, 2 * number, 4096);
    }
    EXPECT_EQ(log->last(), kVisits);
    EXPECT_EQ(log->folded().visits.get(), kVisits - VisitLog::kCapacity);
    EXPECT_EQ(log->visits(1, {"numa"}).size(), VisitLog::kCapacity);
    EXPECT_EQ(log->visits(kVisits - 2, {"numa"}).size(), 3U);
    EXPECT_EQ(log->find(1), nullptr);
    ASSERT_NE(log->find(kVisits), nullptr);

    const record::Moments total = log->totals()[kRead];
    EXPECT_EQ(total.count, 2 * kVisits);
    EXPECT_EQ(total.bytes, kVisits * (512 + 4096));
    EXPECT_EQ(total.sum, 3 * kVisits * (kVisits + 1) / 2);
    EXPECT_EQ(total.min, 1U);
    EXPECT_EQ(total.max, 2 * kVisits);
}

TEST(VisitLog, ForgetsAllButThatTheLatestGoesOn) {
    const auto log = std::make_unique<VisitLog>();
    for (int i = 0; i < 3; ++i) {
        log->begin().steady.add(Operation::read, 10, 512);
    }
    log->find(3)->open.add();
    log->forget();
    EXPECT_EQ(log->totals()[kRead].count, 0U);
    EXPECT_EQ(log->visits(1, {""}).size(), 1U);
    ASSERT_NE(log->find(3), nullptr);
    EXPECT_EQ(log->find(3)->open.get(), 1U);
    EXPECT_EQ(log->begin().number.get(), 4U);
}

} // namespace
} // namespace mpath::live
