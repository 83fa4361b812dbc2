// SPDX-License-Identifier: GPL-2.0-only
#include "report/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::HasSubstr;

record::Record job(const std::string& name, Nanoseconds from, const record::WrittenResult& written) {
    record::Record record = record_of({.name = name, .from = from});
    record.conditions.paths[0].device_bytes = 1'000'000'000;
    record.results.written = written;
    record.written_utc = record.results.measured_until; // both clocks alike
    return record;
}

std::vector<Block> runs(std::vector<record::Record> records) {
    std::vector<Block> all;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto blocks = blocks_of({records[i]}, "run" + std::to_string(i));
        all.insert(all.end(), blocks.begin(), blocks.end());
    }
    return all;
}

TEST(History, CountsWhatWasWrittenSinceTheFill) {
    const auto all = runs({job("before", 10 * kSecond, {7'000, 7'000, 0}),
                           job("fill", 100 * kSecond, {1'000'000'000, 995'000'000, 0}),
                           job("churn", 200 * kSecond, {5'000'000, 1'000'000, 4'000'000}),
                           job("read", 3710 * kSecond, {}), job("after", 9000 * kSecond, {9'000, 0, 9'000})});
    const History history = history_of(all[3], all);
    ASSERT_TRUE(history.fill);
    EXPECT_EQ(history.fill->job, "fill");
    EXPECT_EQ(history_line(all[3], history),
              "filled by fill 60 min before; since then, by the records given: 5.00MB written, 1.00MB of it "
              "sequential and 4.00MB small random\n");
}

TEST(History, SaysWhenNoneOfTheRecordsFilledTheDevice) {
    const auto all = runs({job("churn", 10 * kSecond, {5'000, 0, 5'000}), job("read", 100 * kSecond, {})});
    EXPECT_THAT(history_line(all[1], history_of(all[1], all)), HasSubstr("none of them filled the device"));
}

TEST(History, IsNotKnownWithoutEarlierRecords) {
    const auto all = runs({job("read", 100 * kSecond, {})});
    EXPECT_THAT(history_line(all[0], history_of(all[0], all)), HasSubstr("not known"));
}

TEST(History, OfAnotherDeviceDoesNotMatter) {
    record::Record other = job("fill", 10 * kSecond, {1'000'000'000, 1'000'000'000, 0});
    other.conditions.paths[0].device = "uuid 2";
    const auto all = runs({other, job("read", 100 * kSecond, {})});
    EXPECT_FALSE(history_of(all[1], all).told);
}

} // namespace
} // namespace mpath::report
