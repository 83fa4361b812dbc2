// SPDX-License-Identifier: GPL-2.0-only
// The rule that picks a path for each I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "multipath/path_view.h"

namespace mpath::multipath {

/// A rule and the little it remembers between two I/Os. One instance per job, used on its I/O thread only.
class IoPolicy {
public:
    IoPolicy() = default;
    IoPolicy(const IoPolicy&) = delete;
    IoPolicy& operator=(const IoPolicy&) = delete;
    virtual ~IoPolicy() = default;

    /// Position in `view` of the path for the next I/O, or kNoPath when none is usable. At most one pass over
    /// the view; allocates nothing. The view has the same candidates as at the last call, unless
    /// path_changed() came in between.
    [[nodiscard]] virtual std::size_t select(const PathView& view) noexcept = 0;

    /// Forgets that the candidate at `position` was the last choice, after an I/O failed on it.
    virtual void path_failed(std::size_t position) noexcept = 0;
    /// Forgets everything remembered of the paths: a path came, went or changed its state.
    virtual void path_changed() noexcept = 0;

    /// As the option `iopolicy=` spells it.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Whose rule it is and what it counts over, for the record: "linux-6.11 queue-depth, per job".
    [[nodiscard]] virtual std::string_view semantics() const noexcept = 0;
};

/// The policy of that name; EINVAL with the known names otherwise.
[[nodiscard]] Result<std::unique_ptr<IoPolicy>> make_io_policy(std::string_view name);

/// Every name make_io_policy() knows.
[[nodiscard]] std::span<const std::string_view> io_policy_names() noexcept;

} // namespace mpath::multipath
