// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/path_set.h"

#include <utility>

namespace mpath::multipath {

PathSet::PathSet(std::unique_ptr<IoPolicy> policy, RetryListener& listener, RetryRules rules)
    : policy_(std::move(policy)), policy_hears_completions_(policy_->hears_completions()),
      listener_(listener), rules_(rules) {}

std::uint16_t PathSet::add(std::string name, Path& path, std::uint32_t distance) {
    const auto index = size();
    entries_.push_back({.name = std::move(name), .path = &path, .distance = distance});
    dirty_.reserve(entries_.size());
    candidates_.reserve(entries_.size());
    rebuild_candidates();
    return index;
}

void PathSet::submit(Request& request) noexcept {
    const std::size_t position = policy_->select(view(), request.operation);
    if (position == kNoPath) {
        without_path(request, request.queued_at);
        return;
    }
    give(request, position, request.queued_at);
}

void PathSet::flush() noexcept {
    for (const std::uint16_t index : dirty_) {
        entries_[index].dirty = false;
        entries_[index].path->flush();
    }
    dirty_.clear();
}

void PathSet::collect(Nanoseconds now, RequestList& finished) noexcept {
    while (Request* request = arrivals_.pop()) {
        if (request->completed_at == 0) {
            request->completed_at = now;
        }
        if (request->error_class == ErrorClass::none) {
            if (policy_hears_completions_) {
                tell_policy(*request);
            }
            finished.push(*request);
        } else {
            settle(*request, finished);
        }
    }
}

void PathSet::tell_policy(const Request& request) noexcept {
    const std::size_t position = entries_[request.path].position;
    if (position != kNoPath) {
        policy_->completed(position, request);
    }
}

void PathSet::set_policy(std::unique_ptr<IoPolicy> policy) {
    policy_ = std::move(policy);
    policy_hears_completions_ = policy_->hears_completions();
}

void PathSet::steer(std::unique_ptr<IoPolicy> policy, PathSubset paths) noexcept {
    set_policy(std::move(policy));
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        entries_[index].enabled = contains(paths, index);
    }
    rebuild_candidates();
}

void PathSet::enable(std::uint16_t index, bool enabled) {
    entries_[index].enabled = enabled;
    rebuild_candidates();
}

void PathSet::set_filter(StateFilter filter) noexcept {
    filter_ = filter;
    policy_->path_changed();
}

std::size_t PathSet::usable() const noexcept {
    const PathView paths = view();
    std::size_t count = 0;
    for (std::size_t position = 0; position < paths.size(); ++position) {
        count += paths.rank(position) != PathRank::unusable ? 1 : 0;
    }
    return count;
}

void PathSet::rebuild_candidates() {
    candidates_.clear();
    for (std::uint16_t index = 0; index < size(); ++index) {
        Entry& entry = entries_[index];
        entry.position = entry.enabled ? candidates_.size() : kNoPath;
        if (entry.enabled) {
            candidates_.push_back({.path = entry.path, .index = index, .distance = entry.distance});
        }
    }
    policy_->path_changed();
}

} // namespace mpath::multipath
