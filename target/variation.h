// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>

#include "target/options.h"

namespace mpath::target {

/// The choices a controller may make anew each time, all of them legal, from a generator of the connection's
/// own: the same seed and order of events give the same bytes.
class Variation {
public:
    /// `connection`: its number on its listener.
    Variation(std::uint64_t seed, std::uint64_t connection);

    /// 1 to `left` bytes, a multiple of 4 unless `left` is less: now all of it, now only a few.
    std::uint32_t size(std::uint32_t left);
    /// 0 to `count` - 1.
    std::uint32_t pick(std::uint32_t count);
    bool coin() { return pick(2) == 0; }
    /// Where a PDU's data starts: a multiple of `alignment` from `least`, which is one, to 128.
    std::uint8_t data_offset(std::uint8_t least, std::uint32_t alignment);
    /// Bytes of one send: usually many, now and then a handful.
    std::size_t segment();

private:
    std::mt19937 generator_;
};

/// nullptr: these options leave nothing to chance.
std::unique_ptr<Variation> make_variation(const Options& options, std::uint64_t connection);

} // namespace mpath::target
