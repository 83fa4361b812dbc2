// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>

#include <csignal>

#include "live/control_block.h"
#include "live/process.h"
#include "tests/unit/live/temporary_directory.h"

namespace mpath::cli {

inline live::JobDescription job_with(const std::string& name, std::uint32_t number,
                                     const std::vector<std::string>& paths = {"a", "b"}) {
    live::JobDescription job;
    job.name = name;
    job.thread_number = number;
    job.iopolicy = "round-robin";
    for (const std::string& path : paths) {
        job.paths.push_back({path, "127.0.0.1:4420"});
    }
    return job;
}

/// As a job of this process that does I/O.
inline void start_job(live::JobSlot& job) {
    const live::ProcessId self = live::this_process().value();
    job.pid.set(self.pid);
    job.pid_start.set(self.start);
    job.phase.set_release(static_cast<std::uint64_t>(live::JobPhase::running));
}

inline void end_job(live::JobSlot& job) {
    job.phase.set_release(static_cast<std::uint64_t>(live::JobPhase::ended));
}

inline void kill_job(live::JobSlot& job) {
    start_job(job);
    job.pid_start.set(1);
}

/// What the job's I/O thread does at its next look.
inline void follow(live::JobSlot& job, Nanoseconds at, int refused = 0) {
    const std::uint64_t request = job.mailbox.requested.get();
    const std::uint64_t setting = job.mailbox.setting.get();
    if (refused == 0) {
        job.setting_in_force.set(setting == live::kFollowSchedule ? live::kFirstSetting : setting);
    }
    job.mailbox.refused.set(static_cast<std::uint64_t>(refused));
    job.mailbox.acknowledged_at.set(at);
    job.mailbox.acknowledged.set(request);
}

/// Another process with a control block of its own, until the test ends.
class OtherFio {
public:
    OtherFio(const std::string& directory, const std::vector<live::JobDescription>& jobs) {
        int ready[2];
        if (::pipe(ready) != 0) {
            std::abort();
        }
        pid_ = ::fork();
        if (pid_ == 0) {
            auto block = live::ControlBlock::create(directory);
            for (const auto& job : jobs) {
                start_job(**block->add_job(job));
            }
            static_cast<void>(!::write(ready[1], "r", 1));
            ::pause();
            ::_exit(0);
        }
        char answer = 0;
        static_cast<void>(!::read(ready[0], &answer, 1));
        ::close(ready[0]);
        ::close(ready[1]);
    }
    OtherFio(const OtherFio&) = delete;
    OtherFio& operator=(const OtherFio&) = delete;
    ~OtherFio() { kill(); }

    void kill() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(std::exchange(pid_, -1), nullptr, 0);
        }
    }
    [[nodiscard]] std::uint64_t pid() const { return static_cast<std::uint64_t>(pid_); }

private:
    pid_t pid_ = -1;
};

} // namespace mpath::cli
