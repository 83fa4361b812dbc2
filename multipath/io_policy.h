// SPDX-License-Identifier: GPL-2.0-only
// The rule that picks a path for each I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "multipath/path_view.h"
#include "path/request.h"

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
    [[nodiscard]] virtual std::size_t select(const PathView& view, Operation operation) noexcept = 0;

    /// Forgets that the candidate at `position` was the last choice, and what was learnt of it, after an I/O
    /// failed on it. kNoPath: it is no candidate any more.
    virtual void path_failed(std::size_t position) noexcept = 0;
    /// Forgets everything remembered of the paths: a path came, went or changed its state.
    virtual void path_changed() noexcept = 0;

    /// Whether completed() is to be called. Asked once, so that policies that do not care pay nothing.
    [[nodiscard]] virtual bool hears_completions() const noexcept { return false; }
    /// The I/O has succeeded on the candidate at `position`, between dispatched_at and completed_at.
    virtual void completed(std::size_t /*position*/, const Request& /*request*/) noexcept {}

    /// As the option `iopolicy=` spells it.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Whose rule it is and what it counts over, for the record: "linux-6.11 queue-depth, per job".
    [[nodiscard]] virtual std::string_view semantics() const noexcept = 0;
};

/// The policy that `text` names; EINVAL with the known ones otherwise. `path_names` are those of all the
/// job's paths, in their order: no view may have more candidates.
[[nodiscard]] Result<std::unique_ptr<IoPolicy>> make_io_policy(std::string_view text,
                                                               std::span<const std::string> path_names);

/// Everything make_io_policy() knows; "preferred:NAME" stands for one with the name of a path.
[[nodiscard]] std::span<const std::string_view> io_policy_names() noexcept;

} // namespace mpath::multipath
