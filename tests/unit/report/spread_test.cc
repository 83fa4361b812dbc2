// SPDX-License-Identifier: GPL-2.0-only
#include "report/spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::ElementsAre;

std::vector<std::vector<Block>> repeats(const std::vector<JobShape>& shapes) {
    std::vector<std::vector<Block>> all;
    for (const JobShape& shape : shapes) {
        all.push_back(blocks_of(std::vector{record_of(shape)}));
    }
    return all;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        all.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return all;
}

std::string spread_of(const std::vector<std::vector<Block>>& all) {
    return render_spread(merge_repeats(all).at(0), all);
}

TEST(Spread, ShowsSmallestMiddleAndLargestOfTheRepeats) {
    const auto text = spread_of(repeats({{.reads = 3000, .time = 200'000},
                                         {.reads = 1000, .time = 400'000},
                                         {.reads = 2000, .time = 100'000}}));
    EXPECT_THAT(lines(text),
                ElementsAre("job: spread over 3 repeats", "path  op            IOPS        BW   mean    p99",
                            "a     read  min      100   410kB/s  100µs  100µs",
                            "            median   200   819kB/s  200µs  200µs",
                            "            max      300  1.23MB/s  400µs  400µs"));
}

TEST(Spread, OfAnEvenNumberHasItsMiddleBetweenTheInnerTwo) {
    const auto text = spread_of(repeats({{.reads = 1000}, {.reads = 4000}}));
    EXPECT_THAT(lines(text).at(3), testing::HasSubstr("median   250"));
}

TEST(Spread, ARepeatWithoutIoIsZeroIopsAndNoResponseTime) {
    const auto text = spread_of(repeats({{.reads = 1000, .time = 100'000}, {.reads = 0}}));
    EXPECT_THAT(lines(text),
                ElementsAre("job: spread over 2 repeats", "path  op            IOPS       BW   mean    p99",
                            "a     read  min        0     0B/s  100µs  100µs",
                            "            median    50  205kB/s  100µs  100µs",
                            "            max      100  410kB/s  100µs  100µs"));
}

TEST(Spread, OfFlushesHasNoBandwidth) {
    record::Record record = record_of({.reads = 0});
    record::OperationResult& flushes = record.results.paths[0].settings[0].operations.of(Operation::flush);
    flushes.moments.add(100'000, 0);
    flushes.histogram.add(100'000);
    const std::vector<std::vector<Block>> all{blocks_of(std::vector{record}), blocks_of(std::vector{record})};
    EXPECT_THAT(lines(spread_of(all)).at(2), testing::ContainsRegex("a     sync  min +0 +– +100µs"));
}

} // namespace
} // namespace mpath::report
