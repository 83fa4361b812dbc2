// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "target/listener.h"
#include "target/namespace.h"

namespace mpath::target {

/// A write that was held and whose connection is gone.
struct LateWrite {
    Namespace* space = nullptr;
    std::uint64_t offset = 0; ///< bytes
    std::vector<std::byte> data;
    Nanoseconds delay = 0; ///< after the loss of the connection
    Counters* counters = nullptr;
};

/// Carries writes out some time after their connections were lost, as a controller does whose back end has
/// them already.
class LateWrites {
public:
    void add(LateWrite write) { waiting_.push_back({kUnknown, std::move(write)}); }
    /// To be called soon after add(): what is new counts its delay from here.
    void run(Nanoseconds now);
    /// When run() is needed next; the end of time if there is nothing.
    [[nodiscard]] Nanoseconds next_due() const;

private:
    static constexpr Nanoseconds kUnknown = 0;
    struct Waiting {
        Nanoseconds due;
        LateWrite write;
    };
    std::vector<Waiting> waiting_;
};

} // namespace mpath::target
