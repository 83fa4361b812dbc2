// SPDX-License-Identifier: GPL-2.0-only
#include "base/clock.h"

#include <ctime>

namespace mpath {
namespace {

Nanoseconds read(clockid_t id) noexcept {
    timespec ts{};
    clock_gettime(id, &ts);
    return static_cast<Nanoseconds>(ts.tv_sec) * kSecond + static_cast<Nanoseconds>(ts.tv_nsec);
}

} // namespace

Nanoseconds SystemClock::now() const noexcept {
    return read(CLOCK_MONOTONIC);
}
Nanoseconds SystemClock::utc() const noexcept {
    return read(CLOCK_REALTIME);
}

} // namespace mpath
