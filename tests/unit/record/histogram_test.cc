// SPDX-License-Identifier: GPL-2.0-only
#include "record/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mpath::record {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000'000;

TEST(Buckets, FollowOneAnotherWithoutGapOrOverlap) {
    for (std::uint32_t index = 0; index < kBuckets; ++index) {
        ASSERT_EQ(bucket_of(bucket_floor(index)), index);
        ASSERT_EQ(bucket_of(bucket_floor(index + 1) - 1), index);
    }
}

TEST(Buckets, CoverOneNanosecondToMoreThanAnHour) {
    EXPECT_EQ(bucket_floor(bucket_of(1)), 1U);
    EXPECT_GT(kLargestTime, kHour);
    EXPECT_LT(bucket_of(kHour), kBuckets - 1);
}

TEST(Buckets, KeepLongerTimesInTheLastOne) {
    EXPECT_EQ(bucket_of(kLargestTime), kBuckets - 1);
    EXPECT_EQ(bucket_of(kLargestTime + 1), kBuckets - 1);
    EXPECT_EQ(bucket_of(~std::uint64_t{0}), kBuckets - 1);
}

TEST(Buckets, AreToldByATimeAtMostOnePercentOff) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(0, std::log(static_cast<double>(kLargestTime)));
    for (int round = 0; round < 200'000; ++round) {
        const auto time = static_cast<std::uint64_t>(std::exp(exponent(random)));
        const auto told = static_cast<double>(bucket_middle(bucket_of(time)));
        ASSERT_LE(std::abs(told - static_cast<double>(time)), 0.01 * static_cast<double>(time)) << time;
    }
}

/// The definition: the smallest sample that `percent` of the samples do not exceed.
std::uint64_t exact_percentile(const std::vector<std::uint64_t>& sorted, double percent) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

TEST(Histogram, PercentilesAreWithinOnePercentForAnyDistribution) {
    std::mt19937_64 random(2);
    std::lognormal_distribution<double> disk(11, 0.5);
    std::lognormal_distribution<double> heavy_tail(9, 3);
    std::uniform_int_distribution<std::uint64_t> uniform(1, kHour);
    for (int distribution = 0; distribution < 4; ++distribution) {
        std::vector<std::uint64_t> samples;
        Histogram histogram;
        for (int count = 0; count < 20'000; ++count) {
            const double drawn = distribution == 0 ? disk(random) : heavy_tail(random);
            const std::uint64_t time = distribution == 2   ? uniform(random)
                                       : distribution == 3 ? 77'777
                                                           : 1 + static_cast<std::uint64_t>(drawn);
            samples.push_back(std::min(time, kLargestTime));
            histogram.add(time);
        }
        std::sort(samples.begin(), samples.end());
        for (const double percent : {0.01, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
            const auto exact = static_cast<double>(exact_percentile(samples, percent));
            EXPECT_NEAR(static_cast<double>(histogram.percentile(percent)), exact, 0.01 * exact)
                << "distribution " << distribution << ", " << percent << " %";
        }
    }
}

TEST(Histogram, MergingGivesWhatPoolingTheSamplesGives) {
    std::mt19937_64 random(3);
    std::lognormal_distribution<double> times(11, 1);
    Histogram first;
    Histogram second;
    Histogram pooled;
    for (int count = 0; count < 10'000; ++count) {
        const auto time = static_cast<std::uint64_t>(times(random));
        (count % 3 == 0 ? first : second).add(time);
        pooled.add(time);
    }
    first.merge(second);
    EXPECT_EQ(first, pooled);
    EXPECT_EQ(first.count(), 10'000U);
}

TEST(Histogram, MergingWithAnEmptyOneChangesNothing) {
    Histogram one;
    one.add(5);
    Histogram copy = one;
    one.merge(Histogram());
    EXPECT_EQ(one, copy);
    Histogram empty;
    empty.merge(copy);
    EXPECT_EQ(empty, copy);
}

TEST(Histogram, SinceIsWhatWasAddedAfterTheEarlierCopy) {
    Histogram now;
    now.add(100);
    const Histogram earlier = now;
    now.add(100);
    now.add(5000);
    Histogram expected;
    expected.add(100);
    expected.add(5000);
    EXPECT_EQ(now.since(earlier), expected);
    EXPECT_EQ(now.since(Histogram()), now);
    EXPECT_TRUE(now.since(now).empty());
}

TEST(Histogram, ReadsTheCountersInSharedMemory) {
    HistogramCounters counters{};
    counters.add(10);
    counters.add(10);
    counters.add(kHour);
    const Histogram histogram(counters);
    EXPECT_EQ(histogram.count(), 3U);
    EXPECT_EQ(histogram.bucket(bucket_of(10)), 2U);
}

TEST(Histogram, WithoutSamplesSaysZero) {
    EXPECT_TRUE(Histogram().empty());
    EXPECT_EQ(Histogram().percentile(99), 0U);
}

} // namespace
} // namespace mpath::record
