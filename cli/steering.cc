// SPDX-License-Identifier: GPL-2.0-only
#include "cli/steering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "live/setting_request.h"
#include "live/snapshot.h"
#include "multipath/io_policy.h"
#include "multipath/steer_schedule.h"
#include "record/units.h"

namespace mpath::cli {

namespace {

constexpr Nanoseconds kLockPatience = 5 * kSecond;
/// How often it is looked whether the processes of the jobs are still there.
constexpr Nanoseconds kProcessInterval = 100 * kMillisecond;

using Names = std::vector<std::string>;

std::string setting_name(const live::JobSlot& job, std::size_t index) {
    return job.settings[index].name.get();
}

/// The paths that the order names. ENOENT with the first that the job does not use.
Result<PathSubset> named_paths(const Names& names, const Order& order) {
    PathSubset bits = 0;
    for (const std::string& word : order.paths) {
        const auto index = find_path(word, names);
        if (!index) {
            return tl::unexpected<Error>(Error{ENOENT, word});
        }
        if (names.size() > kSubsetPaths) {
            return failure(ENOTSUP,
                           "it has {} paths, and only of {} at most they can be enabled and disabled",
                           names.size(), kSubsetPaths);
        }
        bits |= PathSubset{1} << *index;
    }
    return bits;
}

/// A name that no other setting of the job has: with one path a name says nothing of the policy.
std::string free_name(const live::JobSlot& job, const multipath::Setting& setting, const Names& names) {
    std::string name = multipath::to_string(setting, names);
    const std::uint64_t named = job.settings_named.get_acquire();
    const auto has_it = [&](const live::SettingSlot& slot) { return slot.name.get() == name; };
    const bool taken = std::any_of(job.settings, job.settings + named, has_it);
    return taken ? fmt::format("{}/{}", setting.policy, name) : name;
}

/// What the order makes of the setting the job was asked for last.
Result<live::SettingWish> wish_of(const live::JobSlot& job, const Order& order) {
    const Names names = live::path_names(job);
    const live::SettingSlot& latest = job.settings[live::latest_setting(job)];
    multipath::Setting setting{latest.policy.get(), latest.paths.get()};
    if (order.what == Order::What::policy) {
        const auto policy = multipath::make_io_policy(order.policy, names);
        if (!policy) {
            return tl::unexpected<Error>(policy.error());
        }
        setting.policy = std::string((*policy)->name());
    } else {
        const auto bits = named_paths(names, order);
        if (!bits) {
            return tl::unexpected<Error>(bits.error());
        }
        setting.paths = order.what == Order::What::enable ? setting.paths | *bits : setting.paths & ~*bits;
    }
    setting.paths = known_paths(setting.paths, job.path_count);
    if (setting.paths == 0) {
        return failure(EINVAL, "{} the last that it may use; enable another path first",
                       order.paths.size() == 1 ? fmt::format("path {} is", order.paths.front())
                                               : fmt::format("paths {} are", fmt::join(order.paths, ", ")));
    }
    const auto known = live::find_setting(job, setting.policy, setting.paths);
    return live::SettingWish{known ? setting_name(job, *known) : free_name(job, setting, names),
                             setting.policy, setting.paths};
}

Steering::Job job_of(live::JobSlot& slot, std::string label) {
    Steering::Job job;
    job.slot = &slot;
    job.label = std::move(label);
    job.left = setting_name(slot, slot.setting_in_force.get());
    const live::JobStanding standing = live::standing_of(slot);
    if (standing == live::JobStanding::ended || standing == live::JobStanding::killed) {
        job.fate = standing == live::JobStanding::ended ? Fate::ended : Fate::killed;
    }
    return job;
}

/// What each job is to be asked for; empty: nothing, or its schedule.
using Wishes = std::vector<std::optional<live::SettingWish>>;

/// All of them, before any job is touched.
Result<Wishes> wishes_of(std::vector<Steering::Job>& jobs, const Order& order) {
    Wishes wishes(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        Steering::Job& job = jobs[i];
        if (job.fate != Fate::waiting) {
            continue;
        }
        if (order.what == Order::What::schedule) {
            if (job.slot->steered.get() == 0) {
                if (order.jobs_named) {
                    return failure(EINVAL, "job {}: it has no schedule (steer=) to go back to", job.label);
                }
                job.fate = Fate::left_alone;
            }
            continue;
        }
        auto wish = wish_of(*job.slot, order);
        if (wish) {
            job.going = wish->name;
            wishes[i] = std::move(*wish);
        } else if (wish.error().code != ENOENT) {
            return failure_in(fmt::format("job {}", job.label), wish.error());
        } else if (order.jobs_named) {
            return failure(ENOENT, "job {}: it does not use a path '{}'; its paths are {}", job.label,
                           wish.error().text, fmt::join(live::path_names(*job.slot), ", "));
        } else {
            job.fate = Fate::left_alone;
            job.lacks = wish.error().text;
        }
    }
    return wishes;
}

/// Why none of `jobs` is asked, if none is.
std::optional<Error> nobody_to_ask(const std::vector<Steering::Job>& jobs, const Order& order) {
    const auto count = [&jobs](Fate fate) {
        return std::count_if(jobs.begin(), jobs.end(), [fate](const auto& job) { return job.fate == fate; });
    };
    if (count(Fate::waiting) > 0) {
        return std::nullopt;
    }
    if (count(Fate::left_alone) > 0) {
        if (order.what == Order::What::schedule) {
            return Error{EINVAL, "no job has a schedule (steer=) to go back to"};
        }
        return Error{ENOENT, fmt::format("no job uses a path '{}'; the paths of {} are {}",
                                         fmt::join(order.paths, "', '"), jobs.front().label,
                                         fmt::join(live::path_names(*jobs.front().slot), ", "))};
    }
    std::string sentence = "there is nobody to ask";
    for (const Steering::Job& job : jobs) {
        sentence += fmt::format("{} {}", &job == &jobs.front() ? ":" : ";", outcome_line(job, 0));
    }
    return Error{ESRCH, sentence};
}

} // namespace

Result<Steering> Steering::begin(const live::RunningBlock& block, const std::vector<live::JobSlot*>& jobs,
                                 const Order& order, const Clock& clock) {
    const auto lock = block.lock(kLockPatience);
    if (!lock) {
        return tl::unexpected<Error>(lock.error());
    }
    Steering steering;
    const auto all = block.jobs();
    for (live::JobSlot* slot : jobs) {
        steering.jobs_.push_back(job_of(*slot, job_label(*slot, all)));
    }
    const auto wishes = wishes_of(steering.jobs_, order);
    if (!wishes) {
        return tl::unexpected<Error>(wishes.error());
    }
    if (auto nobody = nobody_to_ask(steering.jobs_, order)) {
        return tl::unexpected<Error>(std::move(*nobody));
    }
    for (std::size_t i = 0; i < wishes->size(); ++i) {
        if (const auto& wish = (*wishes)[i]) {
            if (auto ready = live::prepare_setting(block, *steering.jobs_[i].slot, *wish); !ready) {
                return tl::unexpected<Error>(ready.error());
            }
        }
    }
    for (std::size_t i = 0; i < wishes->size(); ++i) {
        Job& job = steering.jobs_[i];
        if (job.fate != Fate::waiting) {
            continue;
        }
        const auto& wish = (*wishes)[i];
        const std::uint64_t setting =
            wish ? live::find_or_name_setting(*job.slot, *wish) : live::kFollowSchedule;
        job.asked_at = clock.now();
        job.request = live::ask(*job.slot, setting, job.asked_at);
    }
    return steering;
}

bool Steering::look(const Clock& clock) {
    const Nanoseconds now = clock.now();
    const bool look_at_processes = now >= processes_seen_ + kProcessInterval;
    processes_seen_ = look_at_processes ? now : processes_seen_;
    bool settled = true;
    for (Job& job : jobs_) {
        if (job.fate != Fate::waiting) {
            continue;
        }
        const live::JobStanding standing =
            look_at_processes ? live::standing_of(*job.slot) : live::JobStanding::running;
        if (const auto answer = live::answer_to(*job.slot, job.request)) {
            job.fate = answer->overtaken      ? Fate::overtaken
                       : answer->refused != 0 ? Fate::refused
                                              : Fate::followed;
            job.refused = answer->refused;
            job.took = answer->at > job.asked_at ? answer->at - job.asked_at : 0;
        } else if (standing != live::JobStanding::running) {
            job.fate = standing == live::JobStanding::prepared ? Fate::not_started
                       : standing == live::JobStanding::ended  ? Fate::ended
                                                               : Fate::killed;
        } else {
            settled = false;
        }
    }
    return settled;
}

std::string outcome_line(const Steering::Job& job, Nanoseconds waited) {
    const auto tell = [&job](const std::string& what) { return fmt::format("{}: {}", job.label, what); };
    const std::string going = job.going.empty() ? "its schedule" : job.going;
    switch (job.fate) {
    case Fate::followed: {
        const std::string took = record::format_time(static_cast<double>(job.took));
        return job.left == job.going ? tell(fmt::format("stays in {}, followed in {}", going, took))
                                     : tell(fmt::format("{} -> {}, followed in {}", job.left, going, took));
    }
    case Fate::waiting:
        return tell(
            fmt::format("has not followed within {}: asleep (thinktime= or rate=); it goes to {} with "
                        "its next I/O",
                        record::format_time(static_cast<double>(waited)), going));
    case Fate::not_started:
        return tell(job.going.empty() ? "has not started: follows its schedule from the beginning"
                                      : fmt::format("has not started: begins with {}", going));
    case Fate::ended:
        return tell("ended before it followed");
    case Fate::killed:
        return tell(fmt::format("was killed: its process {} is gone", job.slot->pid.get()));
    case Fate::refused:
        return tell(fmt::format("refused to go to {}: {}", going, reason_of(job.refused)));
    case Fate::overtaken:
        return tell(fmt::format("another command came in between; it is in {}",
                                setting_name(*job.slot, job.slot->setting_in_force.get())));
    case Fate::left_alone:
        return tell(job.lacks.empty() ? "left alone, it has no schedule"
                                      : fmt::format("left alone, it does not use path {}", job.lacks));
    }
    return tell("?");
}

} // namespace mpath::cli
