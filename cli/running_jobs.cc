// SPDX-License-Identifier: GPL-2.0-only
#include "cli/running_jobs.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

namespace mpath::cli {

namespace {

std::string numbered(const live::JobSlot& job) {
    return fmt::format("{}#{}", job.name.get(), job.thread_number);
}

/// Each once: "seq, rand#2, rand#3".
std::string labels_of(const std::vector<live::JobSlot*>& jobs) {
    constexpr std::size_t kMost = 8;
    std::vector<std::string> labels;
    for (const live::JobSlot* job : jobs) {
        if (labels.size() == kMost) {
            labels.push_back(fmt::format("and {} more", jobs.size() - kMost));
            break;
        }
        labels.push_back(job_label(*job, jobs));
    }
    return fmt::format("{}", fmt::join(labels, ", "));
}

bool can_follow(const live::JobSlot& job) {
    const live::JobStanding standing = live::standing_of(job);
    return standing == live::JobStanding::prepared || standing == live::JobStanding::running;
}

/// First the word that means no job of any fio, if there is one.
std::optional<Error> unknown_job(const std::vector<live::RunningBlock>& blocks,
                                 const std::vector<std::string>& names) {
    std::vector<std::string> there;
    there.reserve(blocks.size());
    for (const live::RunningBlock& block : blocks) {
        there.push_back(labels_of(block.jobs()));
    }
    for (const std::string& name : names) {
        const bool known = std::any_of(blocks.begin(), blocks.end(), [&](const live::RunningBlock& block) {
            const auto jobs = block.jobs();
            return std::any_of(jobs.begin(), jobs.end(),
                               [&](const live::JobSlot* job) { return is_meant(*job, {name}); });
        });
        if (!known) {
            return Error{ENOENT, fmt::format("no running fio has a job '{}'; there are {}", name,
                                             fmt::join(there, ", "))};
        }
    }
    return std::nullopt;
}

std::vector<live::JobSlot*> meant_jobs(const live::RunningBlock& block,
                                       const std::vector<std::string>& names) {
    std::vector<live::JobSlot*> jobs;
    for (live::JobSlot* job : block.jobs()) {
        if (is_meant(*job, names) && live::standing_of(*job) != live::JobStanding::ended) {
            jobs.push_back(job);
        }
    }
    return jobs;
}

} // namespace

bool is_meant(const live::JobSlot& job, const std::vector<std::string>& names) {
    return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
               return name == job.name.get() || name == numbered(job);
           });
}

std::string job_label(const live::JobSlot& job, const std::vector<live::JobSlot*>& all) {
    const std::string name = job.name.get();
    const auto same =
        std::count_if(all.begin(), all.end(), [&](const auto* other) { return other->name.get() == name; });
    return same > 1 ? numbered(job) : name;
}

OpenBlocks open_blocks(const std::string& directory, const live::ProcessId& self,
                       std::optional<std::uint64_t> run) {
    OpenBlocks open;
    for (const live::FoundBlock& found : live::find_running_blocks(directory, self)) {
        if (run && found.owner.pid != *run) {
            continue;
        }
        if (auto block = live::RunningBlock::open(found)) {
            open.blocks.push_back(std::move(*block));
        } else if (block.error().code != EAGAIN && block.error().code != ENOENT) {
            open.unreadable.push_back(block.error());
        }
    }
    return open;
}

Error nothing_runs(const OpenBlocks& blocks, std::optional<std::uint64_t> run) {
    if (!blocks.unreadable.empty()) {
        return blocks.unreadable.front();
    }
    if (run) {
        return {ESRCH, fmt::format("no fio with pid {} runs with the engine mpath", *run)};
    }
    return {ESRCH, "no fio of this user runs with the engine mpath"};
}

Result<RunningFio> choose_jobs(const std::string& directory, const live::ProcessId& self,
                               const JobChoice& choice) {
    OpenBlocks open = open_blocks(directory, self, choice.run);
    if (open.blocks.empty()) {
        return tl::unexpected<Error>(nothing_runs(open, choice.run));
    }
    if (auto unknown = unknown_job(open.blocks, choice.jobs)) {
        return tl::unexpected<Error>(std::move(*unknown));
    }
    std::vector<RunningFio> candidates;
    std::optional<RunningFio> dead;
    for (live::RunningBlock& block : open.blocks) {
        std::vector<live::JobSlot*> jobs = meant_jobs(block, choice.jobs);
        if (std::any_of(jobs.begin(), jobs.end(), [](const auto* job) { return can_follow(*job); })) {
            candidates.push_back({std::move(block), std::move(jobs)});
        } else if (!jobs.empty()) {
            dead.emplace(RunningFio{std::move(block), std::move(jobs)});
        }
    }
    if (candidates.empty() && dead) { // told that they were killed
        return std::move(*dead);
    }
    if (candidates.empty()) {
        return failure(ESRCH, "every job that is meant has ended");
    }
    if (candidates.size() > 1) {
        std::vector<std::string> list;
        list.reserve(candidates.size());
        for (const RunningFio& fio : candidates) {
            list.push_back(fmt::format("--run {} ({})", fio.pid(), labels_of(fio.jobs)));
        }
        return failure(EINVAL, "several fio runs have such jobs; choose one: {}", fmt::join(list, ", "));
    }
    return std::move(candidates.front());
}

} // namespace mpath::cli
