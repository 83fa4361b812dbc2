// SPDX-License-Identifier: GPL-2.0-only
// Time comes in from outside, so that every timer can be tested on a clock that stands still.
#pragma once

#include <cstdint>

namespace mpath {

/// Nanoseconds of CLOCK_MONOTONIC. The same clock in every process of this host.
using Nanoseconds = std::uint64_t;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

class Clock {
public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;

    [[nodiscard]] virtual Nanoseconds now() const noexcept = 0;
    /// Nanoseconds since 1970 UTC, for time stamps people read; never for measuring.
    [[nodiscard]] virtual Nanoseconds utc() const noexcept = 0;
};

/// The kernel's clocks (vDSO: no system call).
class SystemClock final : public Clock {
public:
    [[nodiscard]] Nanoseconds now() const noexcept override;
    [[nodiscard]] Nanoseconds utc() const noexcept override;
};

/// Stands still until told otherwise.
class FakeClock final : public Clock {
public:
    explicit FakeClock(Nanoseconds start = kSecond) : now_(start) {}
    [[nodiscard]] Nanoseconds now() const noexcept override { return now_; }
    [[nodiscard]] Nanoseconds utc() const noexcept override { return now_; }
    void advance(Nanoseconds by) { now_ += by; }

private:
    Nanoseconds now_;
};

} // namespace mpath
