// SPDX-License-Identifier: GPL-2.0-only
// Which setting a job is in: what its schedule says, or what somebody asked for from outside; and in which
// visit each I/O counts. All of it on the job's I/O thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "job/start_clock.h"
#include "live/job_slot.h"
#include "multipath/path_set.h"
#include "multipath/steer_schedule.h"
#include "path/request.h"

namespace mpath::job {

/// The schedule of a job, and the clock it runs on.
struct SteerPlan {
    multipath::SteerSchedule schedule;
    StartClock clock;
};

class Steering {
public:
    /// The settings of the plan's schedule are those of the slot, in its order (live::JobDescription). The
    /// references outlive it.
    Steering(live::JobSlot& slot, multipath::PathSet& paths, Nanoseconds settle,
             std::optional<SteerPlan> plan);

    /// The first visit, before the first I/O.
    void begin(Nanoseconds now) noexcept;

    /// Whether look() has something to do.
    [[nodiscard]] bool due(Nanoseconds now) const noexcept {
        return now >= due_ || slot_.mailbox.requested.get_acquire() != heard_;
    }
    /// Goes where schedule or mailbox say; `outstanding`: I/Os that have not come back. True when the paths
    /// that I/O may take are others now.
    bool look(Nanoseconds now, std::uint32_t outstanding) noexcept;

    /// The I/O is being submitted.
    void take(Request& request) noexcept {
        request.setting = counts_in_;
        request.visit = number_;
        ++open_;
        if (first_io_awaited_) {
            note_first_io(request.queued_at);
        }
    }
    /// The I/O has come back.
    void give_back(const Request& request) noexcept {
        if (request.visit == number_) {
            --open_;
        } else {
            give_back_to_earlier(request);
        }
    }
    /// Where the I/O counts among the visits.
    [[nodiscard]] record::MomentCounters& moments(const Request& request) noexcept {
        live::VisitPart& part = request.visit == number_ ? part_of(*visit_, request) : earlier_part(request);
        return part.operations[static_cast<std::size_t>(request.operation)];
    }

    /// The job's I/O has noticed a path event.
    void disturb() noexcept;
    /// What was counted is forgotten, and what is counted from now on is what the job measures.
    void reset(Nanoseconds now) noexcept;
    /// The job's I/O is over.
    void end(Nanoseconds now) noexcept;

private:
    static live::VisitPart& part_of(live::VisitSlot& visit, const Request& request) noexcept {
        return request.setting == live::kTransitionSetting ? visit.transition : visit.steady;
    }
    live::VisitPart& earlier_part(const Request& request) noexcept;
    void give_back_to_earlier(const Request& request) noexcept;
    void note_first_io(Nanoseconds now) noexcept;

    bool hear(Nanoseconds now) noexcept;
    bool follow_schedule(Nanoseconds now) noexcept;
    [[nodiscard]] bool go_to(std::uint64_t setting) noexcept;
    void visit(std::uint64_t setting, record::VisitCause cause, Nanoseconds asked, Nanoseconds now) noexcept;
    void end_visit(Nanoseconds now) noexcept;
    void settle_if_drained(Nanoseconds now, std::uint32_t outstanding) noexcept;
    void settle_now(Nanoseconds now) noexcept;

    live::JobSlot& slot_;
    multipath::PathSet& paths_;
    std::vector<std::string> path_names_;
    Nanoseconds settle_;
    std::optional<SteerPlan> plan_;

    Nanoseconds due_ = multipath::kNever; ///< when the schedule, its clock or a transition needs a look
    std::uint64_t heard_ = 0;             ///< the latest request from outside
    bool commanded_ = false;              ///< by it, and not by the schedule

    live::VisitSlot* visit_ = nullptr;
    std::uint64_t number_ = 0;    ///< of the visit
    std::uint32_t open_ = 0;      ///< I/Os submitted in it that have not come back
    std::uint64_t setting_ = 0;   ///< of the visit
    std::uint16_t counts_in_ = 0; ///< setting that new I/Os count in: the visit's, or the transition
    bool first_io_awaited_ = false;
    bool waits_for_clock_ = false;
    Nanoseconds settle_at_ = multipath::kNever; ///< not before; kNever: it has settled
    Nanoseconds stop_end_ = 0;                  ///< of the schedule's stop it is at, since its clock began
};

} // namespace mpath::job
