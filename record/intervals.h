// SPDX-License-Identifier: GPL-2.0-only
// The time series beside a record: one line of JSON for each interval, in a file of its own that only grows,
// so that writing a checkpoint costs the same after a day as after a second.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "path/state.h"
#include "record/lines_file.h"
#include "record/results.h"

namespace mpath::record {

/// One connection's TCP_INFO at the end of an interval. Fields the kernel did not give stay empty.
struct TcpSample {
    std::uint64_t queue = 0; ///< NVMe: 0 is the admin queue, I/O queues from 1
    std::optional<std::string> congestion_control;
    Maybe rtt_us;
    Maybe rttvar_us;
    Maybe retransmits; ///< segments, since the connection began (tcpi_total_retrans)
    Maybe cwnd;        ///< segments
    Maybe unacked;     ///< segments
    Maybe notsent_bytes;
    Maybe rwnd_limited_us;   ///< since the connection began
    Maybe sndbuf_limited_us; ///< since the connection began
    Maybe delivery_rate;     ///< bytes per second

    bool operator==(const TcpSample&) const = default;
};

/// One operation on one path in one interval. Smallest and largest time come from the histogram's buckets and
/// are within 1 %.
struct IntervalOperation {
    Moments moments;
    Maybe p99{}; ///< within 1 %; not written to a file

    bool operator==(const IntervalOperation&) const = default;
};

struct IntervalPath {
    std::string name;
    std::optional<PathState> state; ///< at the end
    std::array<IntervalOperation, kOperations> operations;
    double mean_depth = 0;
    std::uint64_t requeues = 0;
    std::uint64_t errors = 0;
    std::vector<TcpSample> connections;

    bool operator==(const IntervalPath&) const = default;
};

/// Times are those of its end.
struct Interval {
    Nanoseconds utc = 0;
    Nanoseconds monotonic = 0;
    Nanoseconds length = 0;
    std::optional<std::string> setting{}; ///< in force
    std::vector<IntervalPath> paths{};

    bool operator==(const Interval&) const = default;
};

/// Appends intervals to a file. Not for the I/O thread.
class IntervalWriter {
public:
    /// Makes the file anew; its first line says what it is.
    static Result<IntervalWriter> create(const std::string& file);
    Result<void> append(const Interval& interval);

private:
    explicit IntervalWriter(LinesFile lines) : lines_(std::move(lines)) {}

    LinesFile lines_;
};

/// All intervals of a file. A last line that was cut off by a kill is left out; anything else that is not
/// right is an error.
Result<std::vector<Interval>> read_intervals(const std::string& file);

} // namespace mpath::record
