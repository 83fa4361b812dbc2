// SPDX-License-Identifier: GPL-2.0-only
// Writes a job's record and what belongs to it: a checkpoint, a line of the time series and the visits that
// are over at every interval, the whole in the end.
// On the keeper's thread, and after that was joined on the job's.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/path_recorder.h"
#include "job/visit_recorder.h"
#include "live/job_slot.h"
#include "live/sampler.h"
#include "record/conditions.h"
#include "record/intervals.h"

namespace mpath::job {

/// One I/O connection, for TCP_INFO. The number of a socket that was closed may be in use for another one, so
/// the kernel's cookie says which it was.
struct PathSocket {
    std::size_t path = 0;
    std::uint64_t queue = 0;
    int fd = -1;
    std::uint64_t cookie = 0;
};

/// The cookie of a socket (SO_COOKIE); 0 when there is none.
std::uint64_t socket_cookie(int fd);

class Recorder {
public:
    /// Makes PREFIX_mpath.N.json, PREFIX_mpath.N.intervals.jsonl and PREFIX_path.N.log, and later
    /// PREFIX_mpath.N.visits.jsonl if the job is steered; in an fio server, HOST-PORT. before N. With the log
    /// of a target's faults, finish() notes in the slot how long events took to be noticed.
    static Result<std::unique_ptr<Recorder>> create(const Clock& clock, const std::string& prefix,
                                                    live::JobSlot& slot, record::Conditions conditions,
                                                    std::vector<PathSocket> sockets,
                                                    std::optional<std::string> fault_log = std::nullopt);

    /// The path was connected again: these are its connections. From any thread.
    void replace_sockets(std::size_t path, const std::vector<PathSocket>& sockets);

    /// A failure is kept for finish() to tell: a full disk does not stop a job.
    void checkpoint();
    Result<void> finish();

private:
    /// Of one job; names of files.
    struct Files {
        std::string record;
        std::string intervals;
        std::string visits;
        std::string path_log;
    };

    static Files files_of(const std::string& prefix, std::uint32_t thread_number,
                          const record::Conditions& conditions);
    Recorder(const Clock& clock, live::JobSlot& slot, record::Conditions conditions,
             std::vector<PathSocket> sockets, std::optional<std::string> fault_log, Files files,
             record::IntervalWriter intervals, PathRecorder path_log);

    void append_interval();
    Result<void> note_detections();
    Result<void> write(bool complete);
    void keep(Result<void> result);

    const Clock& clock_;
    live::JobSlot& slot_;
    record::Conditions conditions_;
    std::mutex mutex_; ///< guards the sockets
    std::vector<PathSocket> sockets_;
    std::optional<std::string> fault_log_;
    Files files_;
    record::IntervalWriter intervals_;
    PathRecorder path_log_;
    VisitRecorder visits_;
    live::Sampler sampler_;
    Result<void> first_failure_;
};

} // namespace mpath::job
