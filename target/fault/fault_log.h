// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "target/fault/action.h"
#include "target/listener.h"

namespace mpath::target {

/// A file with one JSON object a line: what was done to which listener, and when.
class FaultLog {
public:
    /// Begins the file anew. `clock` has to outlive the log.
    static Result<std::unique_ptr<FaultLog>> create(const std::string& file, const Clock& clock);

    /// What is done may be noticed before it is written down, so its time is taken before it is done.
    struct Moment {
        Nanoseconds monotonic = 0;
        Nanoseconds utc = 0;
    };
    [[nodiscard]] Moment moment() const { return {clock_.now(), clock_.utc()}; }

    /// `phase`: "begin", "end" (of one that was for a time) or "heal".
    void write(const Moment& moment, const Listener& listener, const Action& action, const char* phase);

private:
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
    FaultLog(File file, const Clock& clock) : file_(std::move(file)), clock_(clock) {}

    File file_;
    const Clock& clock_;
};

} // namespace mpath::target
