// SPDX-License-Identifier: GPL-2.0-only
// The one list of what is in a record: name, member and meaning of every field. Writer, reader and schema are
// three archives that walk it; a field added here is in all three. Fields that a later version of the format
// added are listed by added(): they may be empty, and are when an older record lacks them.
#pragma once

#include <limits>
#include <type_traits>

#include "record/intervals.h"
#include "record/record.h"
#include "record/visits_file.h"

namespace mpath::record {

/// A struct as an archive sees it: changeable for the reader, constant for the others.
template <typename Archive, typename T>
using Seen = std::conditional_t<Archive::kReads, T, const T>&;

/// Sum and moments; smallest and largest time are null without samples. After the count.
template <typename Archive>
void time_fields(Archive& field, Seen<Archive, Moments> moments) {
    const bool any = moments.count != 0;
    Maybe min = any ? Maybe(moments.min) : std::nullopt;
    Maybe max = any ? Maybe(moments.max) : std::nullopt;
    field("sum_ns", moments.sum, "sum of the times");
    field("sum_of_squares_ns2", moments.sum_of_squares, "sum of their squares, rounded to a double");
    field("min_ns", min, "smallest time; null without I/O");
    field("max_ns", max, "largest time; null without I/O");
    if constexpr (Archive::kReads) {
        moments.min = min.value_or(std::numeric_limits<std::uint64_t>::max());
        moments.max = max.value_or(0);
    } else {
        field.derived("mean_ns", any ? std::optional(moments.mean()) : std::nullopt, "sum_ns / count");
    }
}

template <typename Archive>
void moment_fields(Archive& field, Seen<Archive, Moments> moments) {
    field("count", moments.count, "I/Os completed");
    field("bytes", moments.bytes, "bytes of these I/Os");
    time_fields(field, moments);
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Moments> moments) {
    moment_fields(field, moments);
}

template <typename Archive>
void histogram_fields(Archive& field, Seen<Archive, OperationResult> times) {
    field("buckets", times.histogram,
          "histogram of the times: [smallest time of the bucket in ns, I/Os in it]");
    if constexpr (!Archive::kReads) {
        field.derived("p50_ns", times.percentile(50), "from the buckets, within 1 %");
        field.derived("p99_ns", times.percentile(99), "from the buckets, within 1 %");
        field.derived("p999_ns", times.percentile(99.9), "99.9 %, from the buckets, within 1 %");
    }
}

/// Of response times.
template <typename Archive>
void fields(Archive& field, Seen<Archive, OperationResult> operation) {
    moment_fields(field, operation.moments);
    histogram_fields(field, operation);
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, DelayResult> delay) {
    field("count", delay.moments.count, "how many there were");
    time_fields(field, delay.moments);
    histogram_fields(field, delay);
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, HoldResult> held) {
    field("count", held.count, "I/Os that waited for a usable path");
    field("total_ns", held.total, "time they waited, together");
    field("max_ns", held.max, "longest wait");
    field("failed", held.failed, "I/Os failed because no path was usable, after waiting or at once");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, OperationResults> results) {
    for (std::size_t index = 0; index < kOperations; ++index) {
        field(kOperationNames[index].data(), results.operations[index], "this operation alone");
    }
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, SettingResult> setting) {
    field("name", setting.name, "policy and path subset; \"transition\": what was submitted around a switch");
    field("operations", setting.operations, "response time on the path: dispatched there to completed there");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, DepthResult> depth) {
    field("area_ns", depth.area, "time integral of the I/Os outstanding; / measured_ns is the mean depth");
    field("max", depth.max, "most I/Os outstanding at once; null for several jobs together");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, WaitResult> waits) {
    field("count", waits.count, "I/Os that waited for a free slot of the path");
    field("total_ns", waits.total, "time they waited, together");
    field("max_ns", waits.max, "longest wait");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, TrafficResult> traffic) {
    field("commands", traffic.commands, "commands; an I/O may be split into several");
    field("pdus_sent", traffic.pdus_sent, "PDUs sent");
    field("pdus_received", traffic.pdus_received, "PDUs received");
    field("wire_bytes_sent", traffic.wire_bytes_sent, "bytes written to the sockets");
    field("wire_bytes_received", traffic.wire_bytes_received, "bytes read from the sockets");
    field("payload_direct_bytes", traffic.payload_direct, "payload received straight into fio's buffers");
    field("payload_copied_bytes", traffic.payload_copied, "payload copied from the staging buffer");
    field("protocol_violations", traffic.protocol_violations, "by the target; each ended a connection");
    field("header_digest_errors", traffic.header_digest_errors,
          "headers that came damaged; each ended a connection");
    field("data_digest_errors", traffic.data_digest_errors,
          "PDUs whose data came damaged; each failed its command");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, PathResult> path) {
    field("name", path.name, "as in paths=");
    field("state", path.state, "state of its path group, last heard of");
    field("settings", path.settings, "one entry for each setting");
    field("depth", path.depth, "I/Os outstanding on the path, waiting ones included");
    field("waits", path.waits, "I/Os held back because all queues of the path were full");
    field("requeues", path.requeues, "I/Os that failed here for the path's sake and were sent again");
    field.added("requeue_delay", path.requeue_delay, "of each requeue: failed here to dispatched again");
    field.added("retries", path.retries,
                "I/Os sent again on this path for another reason: busy, a damaged transfer");
    field.added("exposed_writes", path.exposed_writes,
                "writes sent again although the attempt on this path could still have been executed");
    field("errors", path.errors, "I/Os that failed here, by class");
    field("traffic", path.traffic, "what went over the connections");
    field("sampled_reads", path.sampled_reads, "reads whose data was looked at");
    field("all_zero_reads", path.all_zero_reads, "of these, reads of nothing but zero bytes");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, CpuResult> cpu) {
    field("user_ns", cpu.user, "CPU time of the job in user space");
    field("system_ns", cpu.system, "CPU time of the job in the kernel");
    field("voluntary_switches", cpu.voluntary_switches, "context switches because it waited");
    field("involuntary_switches", cpu.involuntary_switches, "context switches because others ran");
    field("system_calls", cpu.system_calls,
          "system calls that sent, received and waited, for all paths together");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, WrittenResult> written) {
    field("total_bytes", written.total, "all writes");
    field("sequential_bytes", written.sequential, "writes that continued the job's write before them");
    field("small_random_bytes", written.small_random, "writes below 64 KiB that did not");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Event> event) {
    // kNoPath is null in the file.
    Maybe path = event.path == kNoPath ? std::nullopt : Maybe(event.path);
    field("utc_ns", event.utc, "when: nanoseconds since 1970 UTC");
    field("monotonic_ns", event.monotonic, "when: CLOCK_MONOTONIC");
    field("path", path, "index in results.paths; null: the job as a whole");
    field("kind", event.kind, "what happened");
    field("text", event.text, "one line for people");
    field.added("gap_ns", event.gap,
                "failover gap: longest time without a completion that it caused, while I/O was outstanding");
    field.added("requeues", event.requeues, "I/Os sent again because of it");
    field.added("exposed_writes", event.exposed_writes,
                "of these, writes whose first attempt could still have been executed");
    field.added("detection_ns", event.detection,
                "from when it happened to when we knew; null: nobody told when it happened");
    if constexpr (Archive::kReads) {
        event.path = path ? static_cast<std::uint16_t>(*path) : kNoPath;
    }
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, SettingTime> setting) {
    field("name", setting.name, "policy and path subset");
    field("rules", setting.rules,
          "whose semantics its policy has, and its scope; null if it was never visited");
    field("steady_ns", setting.steady_time,
          "of its visits after they had settled; divide its counts by this");
    field("jobs", setting.jobs, "side by side, how many had steady time in it");
    field("visits", setting.visits, "");
    field("disturbed_visits", setting.disturbed_visits, "of these, those with a path event");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, JobResult> job) {
    field("name", job.name, "fio's job name");
    field("thread_number", job.thread_number, "fio's number of the job, from 1");
    field("group_id", job.group_id, "fio's group");
    field("jobs", job.jobs, "how many jobs these results are of");
    field("iopolicy", job.iopolicy, "the job's iopolicy=");
    field("measured_from_ns", job.measured_from, "CLOCK_MONOTONIC; end of the ramp; 0: nothing measured");
    field("measured_until_ns", job.measured_until, "CLOCK_MONOTONIC");
    field("ended", job.ended, "false: was still running, or was killed");
    if constexpr (!Archive::kReads) {
        field.derived("measured_ns", Maybe(job.measured()), "measured_until_ns - measured_from_ns");
    }
    field("cpu", job.cpu, "");
    field.added("held", job.held, "I/Os that no path could take");
    field("written", job.written, "bytes this job wrote to the device, ramp included");
    field("response", job.response, "response time for the job, first queue() to completion: fio's lat");
    field.added("settings", job.settings, "how long the job was in each, the transition left out");
    field.added("switch_delay", job.switch_delay,
                "of each switch: asked for to first I/O in the new setting");
    field("paths", job.paths, "");
    field("events", job.events, "what happened to the paths, in order");
    field("events_dropped", job.events_dropped, "further events that were not kept");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, PathConditions> path) {
    field("name", path.name, "as in paths=");
    field("address", path.address, "where the path leads to");
    field("local_address", path.local_address, "our end");
    field("transport", path.transport, "");
    field.added("protocol", path.protocol, "nvme-tcp or iscsi");
    field("subsystem", path.subsystem, "NQN; null: not NVMe");
    field.added("target", path.target, "name of the iSCSI target");
    field.added("lun", path.lun, "of the iSCSI target");
    field.added("portal_group", path.portal_group, "target portal group tag, iSCSI");
    field("device", path.device, "identity of the device: kind and value");
    field("model", path.model, "");
    field("serial", path.serial, "");
    field("firmware", path.firmware, "firmware revision");
    field("device_bytes", path.device_bytes, "size of the device");
    field("block_bytes", path.block_bytes, "size of one LBA");
    field("group", path.group, "number of the path group");
    field("state_at_start", path.state_at_start, "");
    field.added("state_name", path.state_name,
                "at the start, where the protocol has another word for the state: standby");
    field("state_at_end", path.state_at_end, "");
    field("io_queues", path.io_queues, "as negotiated");
    field("queue_size", path.queue_size, "entries of each queue, as negotiated");
    field("max_transfer_bytes", path.max_transfer, "of one command (MDTS); 0: no limit");
    field("in_capsule_bytes", path.in_capsule_bytes, "data that fits into a command capsule");
    field("max_h2c_data_bytes", path.max_h2c_data, "of one H2CData PDU (MAXH2CDATA)");
    field.added("first_burst_bytes", path.first_burst,
                "of a write that are sent unasked (FirstBurstLength), iSCSI");
    field.added("max_burst_bytes", path.max_burst, "of one sequence of data PDUs (MaxBurstLength), iSCSI");
    field.added("max_send_data_bytes", path.max_send_data, "of one data PDU to the target, iSCSI");
    field.added("max_receive_data_bytes", path.max_receive_data, "of one data PDU from the target, iSCSI");
    field.added("immediate_data", path.immediate_data, "a write's command carries data, iSCSI");
    field.added("unsolicited_data", path.unsolicited_data,
                "further data follows it unasked (InitialR2T=No), iSCSI");
    field("header_digest", path.header_digest, "");
    field("data_digest", path.data_digest, "");
    field("host_alignment_bytes", path.host_alignment, "of data the target sends, as asked for (HPDA)");
    field("controller_alignment_bytes", path.controller_alignment, "of data sent to the target (CPDA)");
    field("max_r2t", path.max_r2t, "R2Ts the target may have outstanding for one command (MAXR2T)");
    field("keep_alive_ms", path.keep_alive_ms, "keep-alive timeout");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, BlockSizes> sizes) {
    field("min", sizes.min, "bytes");
    field("max", sizes.max, "bytes");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Workload> workload) {
    field("rw", workload.rw, "fio's rw=");
    field("read_blocks", workload.read_blocks, "block sizes of reads");
    field("write_blocks", workload.write_blocks, "block sizes of writes");
    field("trim_blocks", workload.trim_blocks, "block sizes of trims");
    field("iodepth", workload.iodepth, "fio's iodepth=");
    field("rate_read", workload.rate_read, "bytes per second; null: not limited");
    field("rate_write", workload.rate_write, "bytes per second; null: not limited");
    field("rate_trim", workload.rate_trim, "bytes per second; null: not limited");
    field("rate_iops_read", workload.rate_iops_read, "I/Os per second; null: not limited");
    field("rate_iops_write", workload.rate_iops_write, "I/Os per second; null: not limited");
    field("rate_iops_trim", workload.rate_iops_trim, "I/Os per second; null: not limited");
    field("buffer_compress_percentage", workload.compress_percent, "null: not set");
    field("dedupe_percentage", workload.dedupe_percent, "null: not set");
    field("verify", workload.verify, "fio's verify=");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Steering> steering) {
    field("schedule", steering.schedule, "steer=, as it was given");
    field("order", steering.order, "steer_order=");
    field("settle_ns", steering.settle_ns,
          "steer_settle=: what follows a switch and is kept apart, at least");
    field("seed", steering.seed, "of the order shuffle; null: not shuffled");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Conditions> conditions) {
    field("fio_version", conditions.fio_version, "");
    field("engine_version", conditions.engine_version, "of fio-mpath");
    field("kernel_version", conditions.kernel_version, "");
    field("host", conditions.host, "");
    field("server_port", conditions.server_port, "of the fio server that ran the job; null: no fio server");
    field("host_nqn", conditions.host_nqn, "");
    field.added("initiator", conditions.initiator, "our iSCSI name; null: no path is iSCSI");
    field("net_backend", conditions.net_backend, "how sockets are driven");
    field("iopolicy", conditions.iopolicy, "the job's iopolicy=");
    field("iopolicy_rules", conditions.iopolicy_rules, "whose semantics the policy has");
    field("iopolicy_scope", conditions.iopolicy_scope, "over what it balances");
    field.added("steering", conditions.steering, "the schedule inside the run; null: none");
    field("associations", conditions.associations,
          "controllers, or iSCSI sets of sessions, this job connected");
    field("workload", conditions.workload, "fio's options that decide what a number means");
    field("paths", conditions.paths, "in the order of results.paths");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Record> record) {
    field("complete", record.complete, "false: a checkpoint, the job had not ended when it was written");
    field("written_utc_ns", record.written_utc, "nanoseconds since 1970 UTC");
    field("intervals_file", record.intervals_file, "file of the time series, beside the record; null: none");
    field.added("visits_file", record.visits_file, "file of the visits, likewise; null: never steered");
    field("conditions", record.conditions, "under which it was measured");
    field("results", record.results, "what was measured");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, TcpSample> sample) {
    field("queue", sample.queue, "0: the admin queue");
    field("congestion_control", sample.congestion_control, "");
    field("rtt_us", sample.rtt_us, "smoothed round trip time");
    field("rttvar_us", sample.rttvar_us, "its mean deviation");
    field("retransmits", sample.retransmits, "segments, since the connection began");
    field("cwnd", sample.cwnd, "congestion window, segments");
    field("unacked", sample.unacked, "segments");
    field("notsent_bytes", sample.notsent_bytes, "in the send buffer, not yet sent");
    field("rwnd_limited_us", sample.rwnd_limited_us, "held back by the peer's window, since it began");
    field("sndbuf_limited_us", sample.sndbuf_limited_us, "held back by our send buffer, since it began");
    field("delivery_rate", sample.delivery_rate, "bytes per second");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, IntervalOperation> operation) {
    moment_fields(field, operation.moments);
    if constexpr (!Archive::kReads) {
        const Moments& moments = operation.moments;
        field.derived("mean_bytes",
                      moments.count == 0 ? std::nullopt
                                         : std::optional(static_cast<double>(moments.bytes) /
                                                         static_cast<double>(moments.count)),
                      "mean I/O size");
    }
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, IntervalPath> path) {
    field("name", path.name, "");
    field("state", path.state, "at the end of the interval");
    field("operations", path.operations, "");
    field("mean_depth", path.mean_depth, "time-weighted mean of the I/Os outstanding");
    field("requeues", path.requeues, "");
    field("errors", path.errors, "");
    field("connections", path.connections, "TCP_INFO of each connection at the end of the interval");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Interval> interval) {
    field("utc_ns", interval.utc, "end of the interval: nanoseconds since 1970 UTC");
    field("monotonic_ns", interval.monotonic, "end of the interval: CLOCK_MONOTONIC");
    field("length_ns", interval.length, "");
    field.added("setting", interval.setting, "in force at the end of the interval");
    field("paths", interval.paths, "");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Visit> visit) {
    field("number", visit.number, "of the job's visits, from 1");
    field("setting", visit.setting, "policy and path subset");
    field("cause", visit.cause, "why it began");
    field("unit", visit.unit, "which pass of the schedule it belongs to, from 0; null: not of the schedule");
    field("asked_ns", visit.asked, "CLOCK_MONOTONIC, as all that follow: when it was wanted");
    field("began_ns", visit.began, "when the job went to the setting");
    field("first_io_ns", visit.first_io, "when its first I/O was dispatched; null: it had none");
    field("settled_ns", visit.settled, "end of its transition; null: it ended before");
    field("ended_ns", visit.ended, "null: the job was still in it");
    field("disturbances", visit.disturbances, "path events that the job's I/O noticed in it");
    field("transition", visit.transition,
          "response times for the job of I/Os submitted before it had settled");
    field("steady", visit.steady, "of those submitted after");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, Tally> tally) {
    field("count", tally.count, "I/Os completed");
    field("bytes", tally.bytes, "bytes of these I/Os");
    field("sum_ns", tally.sum, "sum of their response times for the job");
}

template <typename Archive>
void fields(Archive& field, Seen<Archive, FoldedTally> folded) {
    field("folded_visits", folded.visits, "visits that went by too quickly to be written one by one");
    field("transition", folded.transition, "I/Os without a line, submitted before their visit had settled");
    field("steady", folded.steady, "those submitted after");
}

} // namespace mpath::record
