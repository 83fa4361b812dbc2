// SPDX-License-Identifier: GPL-2.0-only
// What a job file written for another ioengine says in its engine line, and in options that only that engine
// knows (fio 3.33 engines/*.c; SPDK's plugins and libiscsi from their own documentation).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mpath::run {

enum class EngineKind : std::uint8_t {
    ours,
    asynchronous, ///< I/O to block devices, many at a time
    synchronous,  ///< likewise, but one at a time whatever iodepth= says
    addressed,    ///< I/O to a device that filename= describes by an address instead of a /dev name
    none,         ///< no I/O to a block device
};

inline constexpr std::string_view kDefaultEngine = "psync";

/// The value of ioengine=, with or without `external:` and a folder.
[[nodiscard]] EngineKind kind_of_engine(std::string_view ioengine);

/// What becomes of an option in our engine.
enum class Carry : std::uint8_t {
    keep, ///< means the same, or is not of an engine
    drop, ///< how another engine or this host's block layer works, not what I/O is done
    refuse,
};

struct Carried {
    Carry carry = Carry::keep;
    std::string_view why; ///< rest of a sentence; empty for keep
};

[[nodiscard]] Carried carry_option(std::string_view name, const std::optional<std::string>& value);

} // namespace mpath::run
