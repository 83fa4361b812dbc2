// SPDX-License-Identifier: GPL-2.0-only
// Response times in log-linear buckets.
//
// Every power of two is cut into 50 buckets of equal width, counted from 50: bucket widths are 1 ns from 0
// to 99 ns, 2 ns from 100 to 199 ns, 4 ns from 200 to 399 ns and so on. A bucket is never wider than a 50th
// of its lower bound, and a percentile is told as the middle of its bucket: that is at most half a width, 1
// %, from the true value. Times beyond the range count in the last bucket.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "record/counter.h"

namespace mpath::record {

inline constexpr std::uint32_t kBucketsPerOctave = 50;
inline constexpr std::uint32_t kOctaves = 37; ///< after the first 50 buckets
inline constexpr std::uint32_t kBuckets = (kOctaves + 1) * kBucketsPerOctave;
/// Largest time told apart: 1 h 54 min, in nanoseconds.
inline constexpr std::uint64_t kLargestTime = (std::uint64_t{2 * kBucketsPerOctave} << (kOctaves - 1)) - 1;

/// Index of the bucket that `time` (nanoseconds) falls into, 0 .. kBuckets - 1. No division, no loop.
constexpr std::uint32_t bucket_of(std::uint64_t time) noexcept {
    time = std::min(time, kLargestTime);
    // With 64 set, the shift leaves 64 .. 127; from 100 on it is the next octave, halved once more.
    const auto octave = static_cast<std::uint32_t>(std::bit_width(time | 64)) - 7;
    const std::uint32_t shift = octave + ((time >> octave) >= 2 * kBucketsPerOctave ? 1 : 0);
    return shift * kBucketsPerOctave + static_cast<std::uint32_t>(time >> shift);
}

/// Smallest time that falls into `bucket` (nanoseconds).
constexpr std::uint64_t bucket_floor(std::uint32_t bucket) noexcept {
    if (bucket < 2 * kBucketsPerOctave) {
        return bucket;
    }
    const std::uint32_t shift = bucket / kBucketsPerOctave - 1;
    return std::uint64_t{bucket - shift * kBucketsPerOctave} << shift;
}

/// The time that stands for `bucket`: its middle (nanoseconds).
constexpr std::uint64_t bucket_middle(std::uint32_t bucket) noexcept {
    const std::uint64_t floor = bucket_floor(bucket);
    const std::uint64_t next = bucket_floor(bucket + 1);
    return floor + (next - floor - 1) / 2;
}

/// The buckets in shared memory: one writer, any readers. Zero bytes are an empty histogram.
struct HistogramCounters {
    Counter buckets[kBuckets];

    void add(std::uint64_t time) noexcept { buckets[bucket_of(time)].add(); }
};

static_assert(sizeof(HistogramCounters) <= 16 * 1024);

/// The buckets as a value: what a reader copies, merges and asks. Empty ones cost nothing.
class Histogram {
public:
    Histogram() = default;
    explicit Histogram(const HistogramCounters& counters);

    void add(std::uint64_t time, std::uint64_t times = 1) { add_to_bucket(bucket_of(time), times); }
    /// `bucket` must be below kBuckets.
    void add_to_bucket(std::uint32_t bucket, std::uint64_t times);
    void merge(const Histogram& other);
    /// What was added since `earlier`, an older copy of the same counters.
    [[nodiscard]] Histogram since(const Histogram& earlier) const;

    [[nodiscard]] bool empty() const { return count() == 0; }
    [[nodiscard]] std::uint64_t count() const;
    [[nodiscard]] std::uint64_t bucket(std::uint32_t index) const {
        return index < buckets_.size() ? buckets_[index] : 0;
    }
    /// The smallest sample, within 1 %; 0 when empty.
    [[nodiscard]] std::uint64_t lowest() const { return percentile(0); }
    /// The time that `percent` (0 .. 100) of the samples do not exceed, within 1 %; 0 when empty.
    [[nodiscard]] std::uint64_t percentile(double percent) const;

    bool operator==(const Histogram& other) const;

private:
    std::vector<std::uint64_t> buckets_; // empty, or kBuckets long
};

} // namespace mpath::record
