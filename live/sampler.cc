// SPDX-License-Identifier: GPL-2.0-only
#include "live/sampler.h"

#include <algorithm>

#include "live/snapshot.h"

namespace mpath::live {

namespace {

/// Counters only rise, but those of one reading belong to slightly different moments.
std::uint64_t risen(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
}

record::IntervalOperation difference(const record::OperationResult& now,
                                     const record::OperationResult& before) {
    record::IntervalOperation interval;
    record::Moments& moments = interval.moments;
    moments.count = risen(now.moments.count, before.moments.count);
    if (moments.count == 0) {
        return interval;
    }
    moments.bytes = risen(now.moments.bytes, before.moments.bytes);
    moments.sum = risen(now.moments.sum, before.moments.sum);
    moments.sum_of_squares = std::max(0.0, now.moments.sum_of_squares - before.moments.sum_of_squares);
    const record::Histogram histogram = now.histogram.since(before.histogram);
    if (histogram.empty()) {
        // The sample before had read this I/O's bucket already, but not its count.
        moments.min = moments.max = moments.sum / moments.count;
    } else {
        // The job's own extremes are exact, and bound what the middle of a bucket can say.
        moments.min = std::clamp(histogram.lowest(), now.moments.min, now.moments.max);
        moments.max = std::clamp(histogram.percentile(100), now.moments.min, now.moments.max);
        interval.p99 = std::clamp(histogram.percentile(99), moments.min, moments.max);
    }
    return interval;
}

record::IntervalPath difference(const record::PathResult& now, const record::PathResult* before,
                                Nanoseconds length) {
    static const record::PathResult nothing;
    const record::PathResult& earlier = before != nullptr ? *before : nothing;
    record::IntervalPath interval;
    interval.name = now.name;
    interval.state = now.state;
    const record::OperationResults totals = now.operations();
    const record::OperationResults earlier_totals = earlier.operations();
    for (std::size_t index = 0; index < kOperations; ++index) {
        interval.operations[index] = difference(totals.operations[index], earlier_totals.operations[index]);
    }
    interval.mean_depth =
        static_cast<double>(risen(now.depth.area, earlier.depth.area)) / static_cast<double>(length);
    interval.requeues = risen(now.requeues, earlier.requeues);
    interval.errors = risen(now.error_count(), earlier.error_count());
    return interval;
}

std::optional<std::string> setting_in_force(const JobSlot& job) {
    const std::uint64_t index = job.setting_in_force.get();
    return index < job.settings_named.get_acquire() ? std::optional(job.settings[index].name.get())
                                                    : std::nullopt;
}

} // namespace

std::optional<record::Interval> Sampler::sample(Nanoseconds now, Nanoseconds utc) {
    record::JobResult result = snapshot(job_, now).result;
    const bool first = before_.measured_from != result.measured_from;
    const Nanoseconds from = first ? result.measured_from : before_.measured_until;
    if (result.measured_from == 0 || result.measured_until <= from) {
        return std::nullopt;
    }
    record::Interval interval;
    interval.monotonic = result.measured_until;
    interval.utc = utc - (now - result.measured_until);
    interval.length = result.measured_until - from;
    interval.setting = setting_in_force(job_);
    for (std::size_t index = 0; index < result.paths.size(); ++index) {
        interval.paths.push_back(
            difference(result.paths[index], first ? nullptr : &before_.paths[index], interval.length));
    }
    before_ = std::move(result);
    return interval;
}

} // namespace mpath::live
