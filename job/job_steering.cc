// SPDX-License-Identifier: GPL-2.0-only
// A job's part in steering: what steer= plans, and how it is known outside.
#include <unistd.h>

#include "job/job.h"
#include "live/process.h"
#include "multipath/io_policy.h"

namespace mpath::job {

Result<void> Job::plan_steering() {
    if (auto policy = multipath::make_io_policy(options_.iopolicy, path_names_); !policy) {
        return tl::unexpected<Error>(policy.error());
    }
    if (!options_.steer) {
        return {};
    }
    auto schedule = multipath::parse_steer(*options_.steer, options_.steer_order, options_.steer_settle,
                                           {.policy = options_.iopolicy}, path_names_);
    if (!schedule) {
        return tl::unexpected<Error>(schedule.error());
    }
    schedule_ = std::move(*schedule);
    return {};
}

void Job::describe_steering(live::JobDescription& description) const {
    const std::vector<const live::JobSlot*> earlier = block_->jobs();
    if (!earlier.empty()) {
        description.start_set = earlier.back()->start_set + (fio_job_.waits_for_earlier ? 1 : 0);
    }
    description.start_delay = fio_job_.start_delay;
    description.shuffle_seed = fio_job_.random_seed;
    if (schedule_) {
        description.steered = true;
        for (const multipath::Setting& setting : schedule_->settings) {
            description.settings.push_back(
                {multipath::to_string(setting, path_names_), setting.policy, setting.paths});
        }
    }
}

/// In the job: by now all others have been set up. Those whose schedules have one clock and one seed.
std::vector<live::JobSlot*> Job::steered_together() const {
    std::vector<live::JobSlot*> together;
    for (live::JobSlot* other : block_->slots()) {
        if (other->steered.get() != 0 && other->start_set == slot_->start_set) {
            together.push_back(other);
        }
    }
    return together;
}

std::optional<SteerPlan> Job::steer_plan() const {
    if (!schedule_) {
        return std::nullopt;
    }
    const std::vector<live::JobSlot*> together = steered_together();
    SteerPlan plan{*schedule_, StartClock(*slot_, together)};
    plan.schedule.seed = together.front()->shuffle_seed.get();
    return plan;
}

std::optional<record::Steering> Job::steering_conditions() const {
    if (!schedule_) {
        return std::nullopt;
    }
    record::Steering steering{*options_.steer, std::string(to_string(options_.steer_order)),
                              options_.steer_settle, std::nullopt};
    if (options_.steer_order == multipath::SteerOrder::shuffle) {
        steering.seed = steered_together().front()->shuffle_seed.get();
    }
    return steering;
}

void Job::begin() noexcept {
    const auto pid = static_cast<std::uint64_t>(::getpid());
    slot_->pid.set(pid);
    slot_->pid_start.set(live::start_of(pid).value_or(0));
    engine_->begin();
    slot_->phase.set_release(static_cast<std::uint64_t>(live::JobPhase::running));
}

} // namespace mpath::job
