// SPDX-License-Identifier: GPL-2.0-only
// Count, bytes and the moments of a response time: what can be added up exactly, beside the histogram.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "record/counter.h"

namespace mpath::record {

/// As a value. Times in nanoseconds.
struct Moments {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sum = 0;                                         ///< of the times; room for 584 years
    double sum_of_squares = 0;                                     ///< rounded, see RealCounter
    std::uint64_t min = std::numeric_limits<std::uint64_t>::max(); ///< that value when count is 0
    std::uint64_t max = 0;

    void add(std::uint64_t time, std::uint64_t size) {
        ++count;
        bytes += size;
        sum += time;
        sum_of_squares += static_cast<double>(time) * static_cast<double>(time);
        min = std::min(min, time);
        max = std::max(max, time);
    }
    void merge(const Moments& other) {
        count += other.count;
        bytes += other.bytes;
        sum += other.sum;
        sum_of_squares += other.sum_of_squares;
        min = std::min(min, other.min);
        max = std::max(max, other.max);
    }
    /// 0 when count is 0.
    [[nodiscard]] double mean() const {
        return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
    }
    /// Of the sample; 0 with fewer than two.
    [[nodiscard]] double standard_deviation() const {
        if (count < 2) {
            return 0;
        }
        const auto n = static_cast<double>(count);
        return std::sqrt(std::max(0.0, (sum_of_squares - n * mean() * mean()) / (n - 1)));
    }
    bool operator==(const Moments&) const = default;
};

/// In shared memory: one writer, any readers. Zero bytes are "no sample yet". The count is written last and
/// read first, so that a reader's other values are of at least the samples it counts.
struct MomentCounters {
    Counter count;
    Counter bytes;
    Counter sum;
    RealCounter sum_of_squares;
    LowMark min;
    HighMark max;

    void add(std::uint64_t time, std::uint64_t size) noexcept {
        bytes.add(size);
        sum.add(time);
        // Through a signed integer: one instruction instead of the unsigned conversion's branch.
        const auto real = static_cast<double>(static_cast<std::int64_t>(time));
        sum_of_squares.add(real * real);
        min.see(time);
        max.see(time);
        count.publish_one();
    }
    [[nodiscard]] Moments snapshot() const {
        return {count.get_published(), bytes.get(), sum.get(), sum_of_squares.get(), min.get(), max.get()};
    }
};

} // namespace mpath::record
