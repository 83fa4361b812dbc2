// SPDX-License-Identifier: GPL-2.0-only
#include "job/recorder.h"

#include <sys/socket.h>

#include <filesystem>

#include "job/fault_log.h"
#include "live/snapshot.h"
#include "net/tcp_info.h"
#include "record/record.h"

namespace mpath::job {
namespace {

record::TcpSample sample(const PathSocket& socket, const net::TcpInfo& info) {
    record::TcpSample sample;
    sample.queue = socket.queue;
    sample.congestion_control = info.congestion_control;
    sample.rtt_us = info.rtt_us;
    sample.rttvar_us = info.rttvar_us;
    sample.retransmits = info.retransmits;
    sample.cwnd = info.cwnd;
    sample.unacked = info.unacked;
    sample.notsent_bytes = info.notsent_bytes;
    sample.rwnd_limited_us = info.rwnd_limited_us;
    sample.sndbuf_limited_us = info.sndbuf_limited_us;
    sample.delivery_rate = info.delivery_rate;
    return sample;
}

std::string name_of(const std::string& file) {
    return std::filesystem::path(file).filename();
}

} // namespace

std::uint64_t socket_cookie(int fd) {
    std::uint64_t cookie = 0;
    socklen_t length = sizeof cookie;
    return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

/// Servers number their jobs each from 1, and may share a folder: on one host, or over the network.
Recorder::Files Recorder::files_of(const std::string& prefix, std::uint32_t thread_number,
                                   const record::Conditions& conditions) {
    std::string number = fmt::format("{}", thread_number);
    if (conditions.server_port) {
        number =
            fmt::format("{}-{}.{}", conditions.host.value_or("host"), *conditions.server_port, thread_number);
    }
    const std::string stem = fmt::format("{}_mpath.{}", prefix, number);
    return {stem + ".json", stem + ".intervals.jsonl", stem + ".visits.jsonl",
            fmt::format("{}_path.{}.log", prefix, number)};
}

Result<std::unique_ptr<Recorder>> Recorder::create(const Clock& clock, const std::string& prefix,
                                                   live::JobSlot& slot, record::Conditions conditions,
                                                   std::vector<PathSocket> sockets,
                                                   std::optional<std::string> fault_log) {
    Files files = files_of(prefix, slot.thread_number, conditions);
    auto intervals = record::IntervalWriter::create(files.intervals);
    if (!intervals) {
        return tl::unexpected<Error>(intervals.error());
    }
    auto path_log = PathRecorder::create(files.path_log, slot);
    if (!path_log) {
        return tl::unexpected<Error>(path_log.error());
    }
    // What can't be read or written is better known now than after the run.
    if (fault_log) {
        if (auto faults = read_fault_log(*fault_log); !faults) {
            return tl::unexpected<Error>(faults.error());
        }
    }
    std::unique_ptr<Recorder> recorder(new Recorder(clock, slot, std::move(conditions), std::move(sockets),
                                                    std::move(fault_log), std::move(files),
                                                    std::move(*intervals), std::move(*path_log)));
    if (auto written = recorder->write(false); !written) {
        return tl::unexpected<Error>(written.error());
    }
    return recorder;
}

Recorder::Recorder(const Clock& clock, live::JobSlot& slot, record::Conditions conditions,
                   std::vector<PathSocket> sockets, std::optional<std::string> fault_log, Files files,
                   record::IntervalWriter intervals, PathRecorder path_log)
    : clock_(clock), slot_(slot), conditions_(std::move(conditions)), sockets_(std::move(sockets)),
      fault_log_(std::move(fault_log)), files_(std::move(files)), intervals_(std::move(intervals)),
      path_log_(std::move(path_log)), visits_(slot, files_.visits), sampler_(slot) {}

void Recorder::checkpoint() {
    append_interval();
    keep(visits_.checkpoint());
    keep(write(false));
}

Result<void> Recorder::finish() {
    append_interval();
    keep(path_log_.finish());
    keep(visits_.finish());
    for (std::size_t i = 0; i < conditions_.paths.size(); ++i) {
        if (const auto state = slot_.path(i).state.get(); state && conditions_.paths[i].state_at_start) {
            conditions_.paths[i].state_at_end = static_cast<PathState>(*state);
        }
    }
    keep(note_detections());
    keep(write(true));
    return first_failure_;
}

void Recorder::replace_sockets(std::size_t path, const std::vector<PathSocket>& sockets) {
    const std::lock_guard lock(mutex_);
    std::erase_if(sockets_, [path](const PathSocket& socket) { return socket.path == path; });
    sockets_.insert(sockets_.end(), sockets.begin(), sockets.end());
}

void Recorder::append_interval() {
    auto interval = sampler_.sample(clock_.now(), clock_.utc());
    if (!interval) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (const PathSocket& socket : sockets_) {
        if (socket.cookie == 0 || socket_cookie(socket.fd) != socket.cookie) {
            continue;
        }
        if (const auto info = net::read_tcp_info(socket.fd)) {
            interval->paths[socket.path].connections.push_back(sample(socket, *info));
        }
    }
    keep(intervals_.append(*interval));
    keep(path_log_.add(std::move(*interval)));
}

Result<void> Recorder::note_detections() {
    if (!fault_log_) {
        return {};
    }
    const auto faults = read_fault_log(*fault_log_);
    if (!faults) {
        return tl::unexpected<Error>(faults.error());
    }
    const std::vector<record::Event> events = slot_.events.events();
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].path >= conditions_.paths.size()) {
            continue;
        }
        if (const auto detection =
                detection_of(events, i, conditions_.paths[events[i].path].address, *faults)) {
            slot_.events.set_detection(static_cast<live::EventLog::Handle>(i), *detection);
        }
    }
    return {};
}

Result<void> Recorder::write(bool complete) {
    record::Record record;
    record.complete = complete;
    record.written_utc = clock_.utc();
    record.intervals_file = name_of(files_.intervals);
    if (const auto visits = visits_.file()) {
        record.visits_file = name_of(*visits);
    }
    record.conditions = conditions_;
    record.results = live::snapshot(slot_, clock_.now()).result;
    return record::write_record(files_.record, record);
}

void Recorder::keep(Result<void> result) {
    if (!result && first_failure_) {
        first_failure_ = std::move(result);
    }
}

} // namespace mpath::job
