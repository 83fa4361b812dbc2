// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/latency.h"

#include <algorithm>
#include <bit>

namespace mpath::multipath {

namespace {

constexpr Nanoseconds kWindow = 15 * kSecond;
constexpr Nanoseconds kLongestSample = kSecond;
constexpr std::uint64_t kAllWeight = 64;
constexpr unsigned kAverageShift = 3; ///< the newest window's weight is 1/8

} // namespace

Latency::Latency(std::size_t paths) {
    for (Direction& direction : directions_) {
        direction.paths.resize(paths);
    }
}

Latency::Direction& Latency::direction_of(Operation operation) noexcept {
    return directions_[std::min<std::size_t>(static_cast<std::size_t>(operation), directions_.size() - 1)];
}

std::size_t Latency::select(const PathView& view, Operation operation) noexcept {
    Direction& direction = direction_of(operation);
    std::size_t renewed = kNoPath;
    for (std::size_t step = 0; step < view.size(); ++step) {
        const std::size_t ahead = direction.turn + step;
        const std::size_t position = ahead < view.size() ? ahead : ahead - view.size();
        if (view.rank(position) == PathRank::unusable) {
            continue;
        }
        Standing& path = direction.paths[position];
        if (path.credits > 0) {
            --path.credits;
            return direction.turn = position;
        }
        path.credits = path.weight;
        if (renewed == kNoPath) {
            renewed = position;
        }
    }
    if (renewed != kNoPath) { // none had a credit left: the turn is back where it was
        --direction.paths[renewed].credits;
        direction.turn = renewed;
    }
    return renewed;
}

void Latency::completed(std::size_t position, const Request& request) noexcept {
    const Nanoseconds sample = request.completed_at - request.dispatched_at;
    if (sample == 0 || sample > kLongestSample) {
        return;
    }
    Direction& direction = direction_of(request.operation);
    if (direction.paths[position].add(sample, request.completed_at)) {
        direction.weigh();
    }
}

bool Latency::Standing::add(Nanoseconds sample, Nanoseconds now) noexcept {
    if (window_since == 0) {
        window_since = now;
    }
    sum += sample;
    ++samples;
    const bool over = now >= window_since + kWindow;
    if (!over && !(first_window && std::has_single_bit(samples))) {
        return false;
    }
    const Nanoseconds mean = sum / samples;
    average = first_window ? mean : ((average << kAverageShift) - average + mean) >> kAverageShift;
    if (over) {
        first_window = false;
        window_since = now;
        sum = 0;
        samples = 0;
    }
    return true;
}

void Latency::Direction::weigh() noexcept {
    const auto score = [](const Standing& path) { return path.average == 0 ? 0 : kSecond / path.average; };
    std::uint64_t total = 0;
    for (const Standing& path : paths) {
        total += score(path);
    }
    for (Standing& path : paths) {
        path.weight =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(score(path) * kAllWeight / total, 1));
    }
}

void Latency::path_failed(std::size_t position) noexcept {
    if (position == kNoPath) {
        return;
    }
    for (Direction& direction : directions_) {
        direction.paths[position] = {};
    }
}

void Latency::path_changed() noexcept {
    for (Direction& direction : directions_) {
        std::fill(direction.paths.begin(), direction.paths.end(), Standing{});
        direction.turn = 0;
    }
}

} // namespace mpath::multipath
