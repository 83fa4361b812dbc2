// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "target/access_state.h"
#include "target/fault/faults.h"

namespace mpath::target {

/// The ANA states of a listener's groups, where they are others than at the start, and the counts of changes.
class AnaView {
public:
    /// `initial`: what the listener was told at the start.
    [[nodiscard]] AccessState state(std::uint32_t group, AccessState initial) const;

    /// `group`: 0 for all. With an activation the state lies over what is there, until end().
    void set(std::uint32_t group, AccessState state, Activation activation);
    void end(Activation activation);
    void clear() { layers_.clear(); }

    [[nodiscard]] std::uint64_t change_count() const { return changes_; }
    /// The log's count as it was when the group changed last.
    [[nodiscard]] std::uint64_t change_count_of(std::uint32_t group) const;
    void count_change() { ++changes_; }
    void group_changed(std::uint32_t group) { changed_[group] = changes_; }

private:
    struct Layer {
        std::uint32_t group;
        AccessState state;
        Activation activation;
    };

    std::vector<Layer> layers_; ///< the last one that is about a group counts
    std::uint64_t changes_ = 1;
    std::map<std::uint32_t, std::uint64_t> changed_;
};

} // namespace mpath::target
