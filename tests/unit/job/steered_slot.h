// SPDX-License-Identifier: GPL-2.0-only
// The slot of a steered job, without the job: visits as its I/O thread would make them.
#pragma once

#include <string>

#include "live/control_block.h"
#include "tests/unit/record/temporary_directory.h"

namespace mpath::job {

class SteeredSlot {
public:
    static constexpr Nanoseconds kBegan = 100 * kSecond;

    explicit SteeredSlot(bool steered = true)
        : block_(std::move(live::ControlBlock::create(folder_.path()).value())),
          slot_(**block_.add_job(description(steered))) {}

    [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
    [[nodiscard]] live::JobSlot& slot() { return slot_; }

    void begin_measuring() { slot_.begin_measuring(kBegan); }

    /// Goes to a setting, `at` nanoseconds after the beginning.
    live::VisitSlot& visit(std::uint64_t setting, Nanoseconds at,
                           record::VisitCause cause = record::VisitCause::schedule) {
        if (live::VisitSlot* before = slot_.visits.find(slot_.visits.last())) {
            before->ended.set(kBegan + at);
        }
        live::VisitSlot& visit = slot_.visits.begin();
        visit.setting.set(setting);
        visit.cause.set(static_cast<std::uint64_t>(cause));
        visit.asked.set(kBegan + at - 100);
        visit.began.set(kBegan + at);
        visit.first_io.set(kBegan + at + 20);
        visit.settled.set(kBegan + at + 1'000);
        slot_.settings[setting].visits.add();
        slot_.setting_in_force.set(setting);
        return visit;
    }

private:
    static live::JobDescription description(bool steered) {
        live::JobDescription job{.thread_number = 1,
                                 .name = "job",
                                 .iopolicy = "numa",
                                 .paths = {{"p0", "x"}},
                                 .steered = steered};
        if (steered) {
            job.settings = {{"numa", "numa"}, {"queue-depth", "queue-depth"}};
        }
        return job;
    }

    record::TemporaryDirectory folder_;
    live::ControlBlock block_;
    live::JobSlot& slot_;
};

} // namespace mpath::job
