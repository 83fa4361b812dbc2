// SPDX-License-Identifier: GPL-2.0-only
#include "record/histogram.h"

#include <cmath>
#include <numeric>

namespace mpath::record {

Histogram::Histogram(const HistogramCounters& counters) {
    for (std::uint32_t index = 0; index < kBuckets; ++index) {
        if (const std::uint64_t times = counters.buckets[index].get(); times != 0) {
            add_to_bucket(index, times);
        }
    }
}

void Histogram::add_to_bucket(std::uint32_t bucket, std::uint64_t times) {
    if (buckets_.empty()) {
        buckets_.resize(kBuckets);
    }
    buckets_[bucket] += times;
}

void Histogram::merge(const Histogram& other) {
    if (other.buckets_.empty()) {
        return;
    }
    buckets_.resize(kBuckets);
    std::transform(buckets_.begin(), buckets_.end(), other.buckets_.begin(), buckets_.begin(), std::plus<>());
}

Histogram Histogram::since(const Histogram& earlier) const {
    Histogram difference = *this;
    if (!earlier.buckets_.empty()) {
        difference.buckets_.resize(kBuckets);
        std::transform(difference.buckets_.begin(), difference.buckets_.end(), earlier.buckets_.begin(),
                       difference.buckets_.begin(), std::minus<>());
    }
    return difference;
}

std::uint64_t Histogram::count() const {
    return std::accumulate(buckets_.begin(), buckets_.end(), std::uint64_t{0});
}

std::uint64_t Histogram::percentile(double percent) const {
    const std::uint64_t total = count();
    if (total == 0) {
        return 0;
    }
    const auto wanted = static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(total)));
    const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, total);
    std::uint64_t seen = 0;
    std::uint32_t index = 0;
    while ((seen += buckets_[index]) < rank) {
        ++index;
    }
    return bucket_middle(index);
}

bool Histogram::operator==(const Histogram& other) const {
    if (buckets_.empty() || other.buckets_.empty()) {
        return empty() && other.empty();
    }
    return buckets_ == other.buckets_;
}

} // namespace mpath::record
