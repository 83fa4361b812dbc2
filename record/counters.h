// SPDX-License-Identifier: GPL-2.0-only
// What a job counts while it runs, in shared memory. The job's I/O thread is the only writer; its keeper
// thread, fio's parent and other processes read whenever they like.
//
// The life of an I/O in calls (none allocates, locks or makes a system call):
//
//   path takes it                     on_dispatch(path, now)
//   it comes back from the path       on_return(path, now)             whatever the outcome
//     it waited for a free slot       on_wait_end(path, waited)        before on_return
//     it failed                       on_error(path, class), and when it is sent again on_requeue(path,
//     delay)
//                                     for the path-related, on_retry(path) for the others; on_exposed(path)
//                                     as well if that may execute a write twice
//   no path was usable for a time     on_hold_end(job, held)           whatever the outcome
//     and none came                   on_no_path(job)
//   fio is given it in event()        on_complete(job, visit_moments, path_setting, request, now), if fio
//                                     counts it as well
//
// Depth is kept from on_dispatch to on_return, so I/Os that wait for a slot of their path are in it, and
// depth = IOPS * response time holds between the columns of a table; the waiting is told beside it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "path/error_class.h"
#include "path/request.h"
#include "record/counter.h"
#include "record/histogram.h"
#include "record/moments.h"

namespace mpath::record {

inline constexpr std::size_t kErrorClasses = static_cast<std::size_t>(ErrorClass::io_error) + 1;

/// Writes below this size that do not continue the write before them are "small random".
inline constexpr std::uint32_t kSmallWrite = 64 * 1024;

/// Response times of one operation.
struct OperationCounters {
    MomentCounters moments;
    HistogramCounters histogram;

    /// `time` in nanoseconds, `size` in bytes.
    void add(std::uint64_t time, std::uint64_t size) noexcept {
        histogram.add(time);
        moments.add(time, size);
    }
};

/// Read, write, trim and sync apart. One of these for each setting on each path, and one for the job.
struct OperationSet {
    OperationCounters operations[kOperations];

    [[nodiscard]] OperationCounters& of(Operation operation) noexcept {
        return operations[static_cast<std::size_t>(operation)];
    }
    [[nodiscard]] const OperationCounters& of(Operation operation) const noexcept {
        return operations[static_cast<std::size_t>(operation)];
    }
};

/// I/Os outstanding over time. The area is signed arithmetic modulo 2^64: times of one call that lie a little
/// before those of the last one take away exactly what was added too much.
struct DepthCounters {
    Counter outstanding;
    Counter changed_at; ///< when `outstanding` last changed; CLOCK_MONOTONIC
    Counter area;       ///< nanoseconds * I/Os up to changed_at; room for 200 days at depth 1024
    HighMark max;

    void change(std::uint64_t by, Nanoseconds now) noexcept {
        const std::uint64_t before = outstanding.get();
        area.add(before * (now - changed_at.get()));
        changed_at.set(now);
        outstanding.set(before + by);
    }
    /// Forgets what was, except the I/Os that are outstanding now: for the end of the ramp.
    void begin(Nanoseconds now) noexcept {
        area.set(0);
        changed_at.set(now);
        max.set(outstanding.get());
    }
    /// The area up to `now`. A concurrent reader can be off by the change under way.
    [[nodiscard]] std::uint64_t area_until(Nanoseconds now) const noexcept {
        return area.get() + outstanding.get() * (now - changed_at.get());
    }
};

/// What went over a path's connections. Absent until begun: a path that does not know its bytes on the
/// wire leaves them out. net/ and nvme/ count for themselves; the job copies from them with set().
struct TrafficCounters {
    OptionalCounter commands; ///< an I/O may be split into several
    OptionalCounter pdus_sent;
    OptionalCounter pdus_received;
    OptionalCounter wire_bytes_sent;
    OptionalCounter wire_bytes_received;
    OptionalCounter payload_direct;       ///< bytes received straight into fio's buffer
    OptionalCounter payload_copied;       ///< bytes that went through the staging buffer
    OptionalCounter protocol_violations;  ///< by the target; each ended a connection
    OptionalCounter header_digest_errors; ///< likewise
    OptionalCounter data_digest_errors;   ///< PDUs whose data came damaged; each failed its command
};

/// How long something took, as moments and histogram.
struct DelayCounters {
    MomentCounters moments; ///< bytes stay 0
    HistogramCounters histogram;

    /// `time` in nanoseconds.
    void add(std::uint64_t time) noexcept {
        histogram.add(time);
        moments.add(time, 0);
    }
};

/// I/Os that no path could take.
struct HoldCounters {
    Counter count;
    Counter total;  ///< nanoseconds
    HighMark max;   ///< nanoseconds
    Counter failed; ///< I/Os failed because no path was usable, held before or not
};

/// One path of one job.
struct PathCounters {
    DepthCounters depth;
    Counter requeues; ///< I/Os that failed here for the path's sake and were sent again, elsewhere or here
    Counter retries;  ///< I/Os sent again on this path for another reason: busy, a damaged transfer
    Counter exposed_writes; ///< of both, writes and trims that could still have been executed here then
    Counter errors[kErrorClasses]; ///< by ErrorClass; [none] stays 0
    Counter waits;                 ///< I/Os that had to wait for a free slot of this path
    Counter wait_time;             ///< nanoseconds, of all of them
    HighMark wait_max;             ///< nanoseconds
    TrafficCounters traffic;
    OptionalCounter sampled_reads;  ///< reads whose data was looked at
    OptionalCounter all_zero_reads; ///< of these, only zero bytes
    DelayCounters requeue_delay;    ///< of each requeue: failed here to dispatched again
};

/// One job.
struct JobCounters {
    Counter measuring_since;    ///< CLOCK_MONOTONIC; 0: still ramping up or connecting
    Counter ended_at;           ///< CLOCK_MONOTONIC; 0: still running, or killed
    OptionalCounter cpu_user;   ///< nanoseconds, of the I/O thread
    OptionalCounter cpu_system; ///< nanoseconds
    OptionalCounter voluntary_switches;
    OptionalCounter involuntary_switches;
    OptionalCounter system_calls; ///< of the I/O thread's reactor, which serves all paths
    HoldCounters held;            ///< I/Os that waited because no path was usable

    // Bytes this run wrote to the device, ramp included, because they describe the device's data.
    Counter written;
    Counter written_sequential;   ///< continuing the job's write before it
    Counter written_small_random; ///< neither that, nor kSmallWrite bytes long
    Counter write_end;            ///< where the last write ended

    /// From the first queue() to the final completion: what fio calls lat. Their moments are those of the
    /// visits, added up.
    HistogramCounters response[kOperations];
    DelayCounters switch_delay; ///< of each switch: asked for to first I/O dispatched in the new setting
};

inline void on_dispatch(PathCounters& path, Nanoseconds now) noexcept {
    path.depth.change(1, now);
    path.depth.max.see(path.depth.outstanding.get());
}

inline void on_return(PathCounters& path, Nanoseconds now) noexcept {
    path.depth.change(~std::uint64_t{0}, now);
}

/// An I/O was held back `waited` nanoseconds because all queues of the path were full.
inline void on_wait_end(PathCounters& path, Nanoseconds waited) noexcept {
    path.waits.add();
    path.wait_time.add(waited);
    path.wait_max.see(waited);
}

/// On the path that failed the I/O.
inline void on_error(PathCounters& path, ErrorClass error) noexcept {
    path.errors[static_cast<std::size_t>(error)].add();
}

/// An I/O that `failed_on` failed for the path's sake is dispatched again, elsewhere or there, `delay`
/// nanoseconds after it failed.
inline void on_requeue(PathCounters& failed_on, Nanoseconds delay) noexcept {
    failed_on.requeues.add();
    failed_on.requeue_delay.add(delay);
}

/// An I/O that failed for another reason than its path is sent again on it.
inline void on_retry(PathCounters& path) noexcept {
    path.retries.add();
}

/// A write is sent again although its attempt on this path may still be executed.
inline void on_exposed(PathCounters& path) noexcept {
    path.exposed_writes.add();
}

/// An I/O waited `held` nanoseconds for a usable path; then one came, or it was failed.
inline void on_hold_end(JobCounters& job, Nanoseconds held) noexcept {
    job.held.count.add();
    job.held.total.add(held);
    job.held.max.see(held);
}

/// An I/O is failed because no path is usable and none may come back.
inline void on_no_path(JobCounters& job) noexcept {
    job.held.failed.add();
}

/// An I/O that fio counts, once, on the path that completed it and in the setting it was submitted in.
/// `visit` has the moments of its visit and operation. `handed_out_at` is when fio got it: the job's response
/// time ends there, as fio's own does.
inline void on_complete(JobCounters& job, MomentCounters& visit, OperationSet& path_setting,
                        const Request& request, Nanoseconds handed_out_at) noexcept {
    const auto on_path = request.completed_at - request.dispatched_at;
    const auto for_job = handed_out_at - request.queued_at;
    path_setting.of(request.operation).add(on_path, request.length);
    job.response[static_cast<std::size_t>(request.operation)].add(for_job);
    visit.add(for_job, request.length);
}

/// Every write as it is submitted, ramp included.
inline void on_write(JobCounters& job, std::uint64_t offset, std::uint32_t length) noexcept {
    job.written.add(length);
    if (offset == job.write_end.get()) {
        job.written_sequential.add(length);
    } else if (length < kSmallWrite) {
        job.written_small_random.add(length);
    }
    job.write_end.set(offset + length);
}

} // namespace mpath::record
