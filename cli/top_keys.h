// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mpath::cli {

/// What somebody at fio-mpath top wants.
struct TopAction {
    enum class What : std::uint8_t {
        quit,
        next_job,
        previous_job,
        redraw,
        policy,    ///< number `policy` of multipath::io_policy_names(), from 0
        preferred, ///< path `path`
        enable,    ///< path `path`
        disable,   ///< path `path`
        schedule,
    };
    What what = What::redraw;
    std::size_t policy = 0;
    std::size_t path = 0; ///< place in the list, from 0
};

/// Makes actions of keys, byte by byte.
class TopKeys {
public:
    std::optional<TopAction> press(char byte);
    /// What it waits for: "disable path 0-9", or nothing.
    [[nodiscard]] std::string prompt() const;

private:
    enum class Waits : std::uint8_t { nothing, escape, sequence, enable, disable, preferred };
    std::optional<TopAction> plain(char byte);
    Waits waits_ = Waits::nothing;
};

} // namespace mpath::cli
