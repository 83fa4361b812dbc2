// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/late_writes.h"

#include <algorithm>
#include <cstring>

namespace mpath::target {

void LateWrites::run(Nanoseconds now) {
    std::erase_if(waiting_, [now](Waiting& waiting) {
        LateWrite& write = waiting.write;
        if (waiting.due == kUnknown) {
            waiting.due = now + write.delay;
        }
        if (waiting.due > now) {
            return false;
        }
        if (std::byte* to = write.space->destination(write.offset); to != nullptr) {
            std::memcpy(to, write.data.data(), write.data.size());
        }
        ++write.counters->late_writes;
        return true;
    });
}

Nanoseconds LateWrites::next_due() const {
    Nanoseconds next = std::numeric_limits<Nanoseconds>::max();
    for (const Waiting& waiting : waiting_) {
        next = std::min(next, waiting.due);
    }
    return next;
}

} // namespace mpath::target
