// SPDX-License-Identifier: GPL-2.0-only
#include "live/event_log.h"

#include <algorithm>
#include <atomic>

namespace mpath::live {

EventLog::Handle EventLog::add(Nanoseconds monotonic, Nanoseconds utc, std::uint16_t path,
                               record::EventKind kind, std::string_view text) noexcept {
    const std::uint64_t place = std::atomic_ref(claimed_).fetch_add(1, std::memory_order_relaxed);
    if (place >= kCapacity) {
        return kNoEvent;
    }
    Entry& entry = entries_[place];
    entry.monotonic = monotonic;
    entry.utc = utc;
    entry.path = path;
    entry.kind = kind;
    entry.text.set(text);
    std::atomic_ref(entry.written).store(1, std::memory_order_release);
    return static_cast<Handle>(place);
}

void EventLog::set_failover(Handle event, std::optional<Nanoseconds> gap, std::uint64_t requeues,
                            std::optional<std::uint64_t> exposed_writes) noexcept {
    if (event >= kCapacity) {
        return;
    }
    Entry& entry = entries_[event];
    if (gap) {
        entry.gap.set(*gap);
    }
    if (exposed_writes) {
        entry.exposed_writes.set(*exposed_writes);
    }
    entry.requeues.set(requeues);
    entry.failover_known.set_release(1);
}

void EventLog::set_detection(Handle event, Nanoseconds detection) noexcept {
    if (event < kCapacity) {
        entries_[event].detection.set(detection);
    }
}

std::vector<record::Event> EventLog::events() const {
    std::vector<record::Event> found;
    const std::uint64_t claimed = std::atomic_ref(claimed_).load(std::memory_order_relaxed);
    for (std::uint64_t place = 0; place < std::min<std::uint64_t>(claimed, kCapacity); ++place) {
        const Entry& entry = entries_[place];
        if (std::atomic_ref(entry.written).load(std::memory_order_acquire) == 0) {
            continue;
        }
        found.push_back({entry.utc, entry.monotonic, entry.path, entry.kind, entry.text.get()});
        found.back().detection = entry.detection.get();
        if (entry.failover_known.get_acquire() != 0) {
            found.back().gap = entry.gap.get();
            found.back().requeues = entry.requeues.get();
            found.back().exposed_writes = entry.exposed_writes.get();
        }
    }
    return found;
}

std::uint64_t EventLog::dropped() const noexcept {
    const std::uint64_t claimed = std::atomic_ref(claimed_).load(std::memory_order_relaxed);
    return claimed > kCapacity ? claimed - kCapacity : 0;
}

} // namespace mpath::live
