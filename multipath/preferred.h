// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "multipath/io_policy.h"

namespace mpath::multipath {

/// One path as long as it is usable, non-optimized or not, also while others are optimized: who names a path
/// wants that one. While it is not, the next optimized path behind it in the list, going round; without one,
/// the next non-optimized path. Back to the named one with the first I/O after it is usable again.
class Preferred final : public IoPolicy {
public:
    /// `name` is the whole of it, "preferred:b"; `index` is the path's among the `paths` of the job.
    Preferred(std::string name, std::uint16_t index, std::uint16_t paths)
        : name_(std::move(name)), index_(index), paths_(paths) {}

    [[nodiscard]] std::size_t select(const PathView& view, Operation operation) noexcept override;
    void path_failed(std::size_t) noexcept override {}
    void path_changed() noexcept override { position_ = kNoPath; }
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] std::string_view semantics() const noexcept override {
        return "fio-mpath preferred, per job";
    }

private:
    std::string name_;
    std::uint16_t index_;
    std::uint16_t paths_;
    std::size_t position_ = kNoPath; ///< of the preferred path, once it was found usable
};

} // namespace mpath::multipath
