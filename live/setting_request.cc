// SPDX-License-Identifier: GPL-2.0-only
#include "live/setting_request.h"

namespace mpath::live {

std::size_t latest_setting(const JobSlot& job) {
    const std::uint64_t asked = job.mailbox.setting.get_acquire();
    const bool waiting = job.mailbox.requested.get_acquire() != job.mailbox.acknowledged.get_acquire();
    return waiting && asked < job.settings_named.get_acquire() ? asked : job.setting_in_force.get();
}

std::optional<std::size_t> find_setting(const JobSlot& job, std::string_view policy, PathSubset paths) {
    const PathSubset wanted = known_paths(paths, job.path_count);
    const std::uint64_t named = job.settings_named.get_acquire();
    for (std::size_t index = 0; index < named; ++index) {
        const SettingSlot& setting = job.settings[index];
        if (index != kTransitionSetting && setting.policy.get() == policy &&
            known_paths(setting.paths.get(), job.path_count) == wanted) {
            return index;
        }
    }
    return std::nullopt;
}

Result<void> prepare_setting(const RunningBlock& block, JobSlot& job, const SettingWish& wish) {
    if (!find_setting(job, wish.policy, wish.paths)) {
        const std::uint64_t next = job.settings_named.get_acquire();
        if (next >= job.setting_count) {
            return failure(E2BIG,
                           "job {} has been in {} settings, and keeps no more apart; go to one of them",
                           job.name.get(), next - 1);
        }
        if (auto room = block.make_room(job, next); !room) {
            return room;
        }
    }
    if (job.transition_kept.get() == 0) {
        if (auto room = block.make_room(job, kTransitionSetting); !room) {
            return room;
        }
        job.transition_kept.set_release(1);
    }
    return {};
}

std::size_t find_or_name_setting(JobSlot& job, const SettingWish& wish) {
    if (const auto found = find_setting(job, wish.policy, wish.paths)) {
        return *found;
    }
    const std::uint64_t index = job.settings_named.get_acquire();
    SettingSlot& setting = job.settings[index];
    setting.name.set(wish.name);
    setting.policy.set(wish.policy);
    setting.paths.set(known_paths(wish.paths, job.path_count));
    job.settings_named.set_release(index + 1);
    return index;
}

std::uint64_t ask(JobSlot& job, std::uint64_t setting, Nanoseconds now) {
    Mailbox& mailbox = job.mailbox;
    const std::uint64_t request = mailbox.requested.get_acquire() + 1;
    mailbox.setting.set_release(setting);
    mailbox.requested_at.set_release(now);
    mailbox.requested.set_release(request);
    return request;
}

std::optional<Answer> answer_to(const JobSlot& job, std::uint64_t request) {
    const Mailbox& mailbox = job.mailbox;
    if (mailbox.acknowledged.get_acquire() < request) {
        return std::nullopt;
    }
    const Answer answer{static_cast<int>(mailbox.refused.get()), mailbox.acknowledged_at.get(), false};
    const bool overtaken = mailbox.requested.get_acquire() != request;
    return Answer{answer.refused, answer.at, overtaken};
}

} // namespace mpath::live
