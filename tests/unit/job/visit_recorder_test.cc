// SPDX-License-Identifier: GPL-2.0-only
// Visits get from shared memory into a file before they are forgotten, each I/O once.
#include "job/visit_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steered_slot.h"

namespace mpath::job {
namespace {

using record::FoldedTally;
using record::Tally;
using record::Visits;

class VisitRecorderTest : public testing::Test {
protected:
    static void complete(live::VisitPart& part, Nanoseconds time = 1'000) {
        part.add(Operation::read, time, 4096);
    }
    void checkpoint() { ASSERT_TRUE(recorder_.checkpoint()); }
    void finish() { ASSERT_TRUE(recorder_.finish()); }
    [[nodiscard]] Visits written() const { return record::read_visits(steered_.file("visits")).value(); }
    [[nodiscard]] std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> found;
        for (const record::Visit& visit : written().visits) {
            found.push_back(visit.number);
        }
        return found;
    }

    SteeredSlot steered_;
    VisitRecorder recorder_{steered_.slot(), steered_.file("visits")};
};

TEST_F(VisitRecorderTest, WritesAVisitWhenItIsOverAndItsIosAreBack) {
    steered_.begin_measuring();
    live::VisitSlot& first = steered_.visit(0, 0, record::VisitCause::start);
    complete(first.transition);
    checkpoint();
    checkpoint();
    EXPECT_THAT(numbers(), testing::IsEmpty()) << "it goes on";
    live::VisitSlot& second = steered_.visit(2, 5'000);
    first.open.add();
    checkpoint();
    checkpoint();
    EXPECT_THAT(numbers(), testing::IsEmpty()) << "an I/O of it is outstanding";
    first.open.subtract();
    checkpoint();
    complete(first.steady); // fio takes what has come back a moment later
    checkpoint();
    EXPECT_THAT(numbers(), testing::ElementsAre(1));
    complete(second.steady);
    finish();
    const Visits all = written();
    ASSERT_EQ(all.visits.size(), 2U);
    EXPECT_EQ(all.visits[0].setting, "numa");
    EXPECT_EQ(all.visits[0].transition[0].count, 1U);
    EXPECT_EQ(all.visits[0].steady[0].count, 1U);
    EXPECT_EQ(all.visits[1].setting, "queue-depth");
    EXPECT_EQ(all.visits[1].ended, std::nullopt);
    EXPECT_EQ(all.folded, std::nullopt);
}

TEST_F(VisitRecorderTest, AddsUpWhatWasForgottenBeforeItCouldBeWritten) {
    steered_.begin_measuring();
    const std::uint64_t last = live::VisitLog::kCapacity + 44;
    for (std::uint64_t number = 1; number <= last; ++number) {
        live::VisitSlot& visit = steered_.visit(number % 2 == 0 ? 0 : 2, number * 10'000);
        complete(visit.transition, 500);
        complete(visit.steady);
        if (number == 4) {
            checkpoint();
            checkpoint(); // 1 to 3 are written
        }
    }
    complete(steered_.slot().visits.folded().steady, 9'000); // of visit 5, very late
    finish();
    const Visits all = written();
    EXPECT_EQ(all.visits.size(), 3 + live::VisitLog::kCapacity);
    EXPECT_EQ(all.visits[3].number, 45U);
    ASSERT_TRUE(all.folded);
    EXPECT_EQ(all.folded->visits, 41U);
    EXPECT_EQ(all.folded->transition[0], (Tally{41, 41 * 4096, 41 * 500}));
    EXPECT_EQ(all.folded->steady[0], (Tally{42, 42 * 4096, 41 * 1'000 + 9'000}));
}

TEST_F(VisitRecorderTest, CountsAnIoThatComesWhenItsLineIsWritten) {
    steered_.begin_measuring();
    live::VisitSlot& first = steered_.visit(0, 0);
    steered_.visit(2, 5'000);
    checkpoint();
    checkpoint();
    ASSERT_THAT(numbers(), testing::ElementsAre(1));
    complete(first.steady);
    finish();
    ASSERT_TRUE(written().folded);
    EXPECT_EQ(written().folded->visits, 0U);
    EXPECT_EQ(written().folded->steady[0], (Tally{1, 4096, 1'000}));
}

TEST_F(VisitRecorderTest, LeavesOutWhatCameBeforeTheEndOfTheRamp) {
    steered_.visit(0, 0, record::VisitCause::start);
    complete(steered_.visit(2, 1'000).steady);
    checkpoint();
    EXPECT_EQ(recorder_.file(), std::nullopt);
    steered_.slot().visits.forget();
    steered_.begin_measuring();
    complete(steered_.slot().visits.find(2)->steady);
    finish();
    EXPECT_THAT(numbers(), testing::ElementsAre(2));
    EXPECT_EQ(written().visits[0].steady[0].count, 1U);
    EXPECT_EQ(written().folded, std::nullopt);
}

TEST(VisitRecorder, MakesNoFileForAJobThatIsNotSteered) {
    SteeredSlot steered(false);
    VisitRecorder recorder(steered.slot(), steered.file("visits"));
    steered.begin_measuring();
    steered.visit(0, 0, record::VisitCause::start);
    ASSERT_TRUE(recorder.checkpoint());
    ASSERT_TRUE(recorder.finish());
    EXPECT_EQ(recorder.file(), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(steered.file("visits")));
}

TEST(VisitRecorder, MakesTheFileOnceSomebodyHasSwitched) {
    SteeredSlot steered(false);
    VisitRecorder recorder(steered.slot(), steered.file("visits"));
    steered.begin_measuring();
    steered.visit(0, 0, record::VisitCause::start);
    steered.visit(0, 1'000, record::VisitCause::command);
    ASSERT_TRUE(recorder.checkpoint());
    EXPECT_EQ(recorder.file(), steered.file("visits"));
}

} // namespace
} // namespace mpath::job
