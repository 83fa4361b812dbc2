// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

namespace mpath::cli {

namespace {

TopJob describe(const live::RunningBlock& block, const live::JobSlot& slot) {
    TopJob job;
    job.run = block.owner().pid;
    job.number = slot.thread_number;
    job.name = slot.name.get();
    job.label = job_label(slot, block.jobs());
    job.standing = live::standing_of(slot);
    const live::SettingSlot& setting = slot.settings[slot.setting_in_force.get()];
    job.setting = setting.name.get();
    job.policy = setting.policy.get();
    job.has_schedule = slot.steered.get() != 0;
    if (const std::uint64_t visit = slot.visits.last(); visit != 0) {
        job.visit = visit;
        if (const auto visits = slot.visits.visits(visit, {}); !visits.empty()) {
            job.cause = visits.front().cause;
        }
    }
    job.asked = slot.mailbox.requested.get() != slot.mailbox.acknowledged.get();
    const PathSubset enabled = setting.paths.get();
    for (std::size_t index = 0; index < slot.path_count; ++index) {
        const live::PathSlot& path = slot.path(index);
        const auto state = path.state.get();
        job.paths.push_back({path.name.get(),
                             state ? std::optional(static_cast<PathState>(*state)) : std::nullopt,
                             contains(enabled, index)});
    }
    return job;
}

} // namespace

void TopWatch::find_runs() {
    std::erase_if(runs_, [](const auto& run) { return !run->block.in_use(); });
    last_found_ = open_blocks(directory_, self_, choice_.run);
    for (live::RunningBlock& block : last_found_.blocks) {
        const bool known = std::any_of(runs_.begin(), runs_.end(), [&block](const auto& run) {
            return run->block.owner() == block.owner();
        });
        if (!known) {
            runs_.push_back(std::make_unique<Run>(Run{std::move(block), {}}));
        }
    }
    last_found_.blocks.clear();
}

void TopWatch::find(Nanoseconds now, Nanoseconds utc) {
    find_runs();
    for (const auto& run : runs_) {
        for (live::JobSlot* slot : run->block.jobs()) {
            const bool known = std::any_of(run->jobs.begin(), run->jobs.end(),
                                           [slot](const Watched& job) { return job.slot == slot; });
            if (!known && is_meant(*slot, choice_.jobs)) {
                run->jobs.push_back({slot, live::Sampler(*slot)});
                run->jobs.back().sampler.sample(now, utc); // what it has done until now is not told
            }
        }
    }
}

bool TopWatch::has_runs() const {
    return std::any_of(runs_.begin(), runs_.end(),
                       [this](const auto& run) { return choice_.jobs.empty() || !run->jobs.empty(); });
}

Error TopWatch::nothing() const {
    return runs_.empty()
               ? nothing_runs(last_found_, choice_.run)
               : Error{ENOENT, fmt::format("no running fio has a job '{}'", fmt::join(choice_.jobs, "', '"))};
}

TopView TopWatch::look(Nanoseconds now, Nanoseconds utc) {
    find(now, utc);
    TopView view;
    view.utc = utc;
    for (const auto& run : runs_) {
        for (Watched& watched : run->jobs) {
            TopJob job = describe(run->block, *watched.slot);
            job.interval = watched.sampler.sample(now, utc);
            job.events = watched.slot->events.events();
            const std::size_t known = job.events.size();
            job.events.erase(job.events.begin(), job.events.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                          watched.events_seen, known)));
            watched.events_seen = known;
            const bool over =
                job.standing == live::JobStanding::ended || job.standing == live::JobStanding::killed;
            if (job.standing == live::JobStanding::killed) {
                job.interval.reset(); // of a counter that nobody counts any more
            }
            job.told = std::exchange(watched.told, over) && over;
            view.jobs.push_back(std::move(job));
        }
    }
    return view;
}

std::vector<Steering> TopWatch::ask(std::optional<std::size_t> index, const Order& order, const Clock& clock,
                                    std::vector<Error>& errors) const {
    std::vector<Steering> begun;
    std::size_t place = 0;
    for (const auto& run : runs_) {
        std::vector<live::JobSlot*> meant;
        for (const Watched& job : run->jobs) {
            if ((!index || *index == place) && live::standing_of(*job.slot) != live::JobStanding::ended) {
                meant.push_back(job.slot);
            }
            ++place;
        }
        if (meant.empty()) {
            continue;
        }
        if (auto steering = Steering::begin(run->block, meant, order, clock)) {
            begun.push_back(std::move(*steering));
        } else {
            errors.push_back(steering.error());
        }
    }
    return begun;
}

} // namespace mpath::cli
