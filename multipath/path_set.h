// SPDX-License-Identifier: GPL-2.0-only
// The paths of one job: picks one for each I/O and takes back what they complete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "multipath/io_policy.h"
#include "multipath/path_view.h"
#include "path/request.h"

namespace mpath::multipath {

/// Request::path of an I/O that no path took.
inline constexpr std::uint16_t kUnassigned = 0xffff;

/// All of it is called on the job's I/O thread; submit(), flush() and collect() neither allocate nor call
/// the system. The paths belong to the caller and outlive the set.
class PathSet {
public:
    explicit PathSet(std::unique_ptr<IoPolicy> policy);

    /// Where the set's paths push what they complete; hand it to each path when it is made.
    [[nodiscard]] RequestList& arrivals() noexcept { return arrivals_; }

    /// Appends a path, in the order of `paths=`; its index is the number of paths before it. `distance` is
    /// node_distance() from the job's NUMA node to the path's.
    std::uint16_t add(std::string name, Path& path, std::uint32_t distance = kLocalDistance);

    /// Takes the I/O. One that no path can take comes out of collect() with ErrorClass::no_path.
    void submit(Request& request) noexcept;
    /// Stages what was submitted, for the reactor's next run; touches only paths that got something.
    void flush() noexcept;
    /// Moves what has arrived to `finished`. `now` becomes the completion time of those that their path has
    /// not stamped, so call it right after the reactor ran.
    void collect(Nanoseconds now, RequestList& finished) noexcept;
    /// Whether collect() has something to do.
    [[nodiscard]] bool has_arrivals() const noexcept { return !arrivals_.empty(); }

    /// Must be called when any path was lost, came back or changed its state.
    void path_changed() noexcept { policy_->path_changed(); }
    void set_policy(std::unique_ptr<IoPolicy> policy);
    [[nodiscard]] const IoPolicy& policy() const noexcept { return *policy_; }
    /// Lets the job use a path, or keeps new I/O away from it. Every path starts enabled.
    void enable(std::uint16_t index, bool enabled);
    [[nodiscard]] bool enabled(std::uint16_t index) const noexcept { return entries_[index].enabled; }
    /// Takes only paths of one state, following it as it changes.
    void set_filter(StateFilter filter) noexcept;

    [[nodiscard]] std::uint16_t size() const noexcept { return static_cast<std::uint16_t>(entries_.size()); }
    [[nodiscard]] const Path& path(std::uint16_t index) const noexcept { return *entries_[index].path; }
    [[nodiscard]] std::string_view name(std::uint16_t index) const noexcept { return entries_[index].name; }
    /// Paths that could take an I/O now; `min_paths=` is compared with it.
    [[nodiscard]] std::size_t usable() const noexcept;

private:
    struct Entry {
        std::string name;
        Path* path = nullptr;
        std::uint32_t distance = kLocalDistance;
        std::size_t position = kNoPath; ///< among the candidates; kNoPath when disabled
        bool enabled = true;
        bool dirty = false; ///< has submitted I/Os that flush() has not staged
    };

    [[nodiscard]] PathView view() const noexcept { return {candidates_, filter_}; }
    void rebuild_candidates();
    void dispatch(Request& request, Nanoseconds now) noexcept;
    void fail_without_path(Request& request) noexcept;
    void finish(Request& request, RequestList& finished) noexcept;

    std::unique_ptr<IoPolicy> policy_;
    std::vector<Entry> entries_;
    std::vector<Candidate> candidates_; ///< the enabled entries
    std::vector<std::uint16_t> dirty_;  ///< indices of the dirty entries; capacity for all of them
    StateFilter filter_ = StateFilter::any;
    RequestList arrivals_;
};

} // namespace mpath::multipath
