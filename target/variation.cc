// SPDX-License-Identifier: GPL-2.0-only
#include "target/variation.h"

#include <algorithm>
#include <array>
#include <limits>

namespace mpath::target {

namespace {

constexpr std::uint32_t kLastDataOffset = 128;

std::mt19937 generator_of(std::uint64_t seed, std::uint64_t connection) {
    std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                           static_cast<std::uint32_t>(connection)};
    return std::mt19937(sequence);
}

} // namespace

Variation::Variation(std::uint64_t seed, std::uint64_t connection)
    : generator_(generator_of(seed, connection)) {}

// Not a std:: distribution: those may differ from library to library, and a seed should not.
std::uint32_t Variation::pick(std::uint32_t count) {
    return static_cast<std::uint32_t>((std::uint64_t{static_cast<std::uint32_t>(generator_())} * count) >>
                                      32);
}

std::uint32_t Variation::size(std::uint32_t left) {
    const std::array<std::uint32_t, 4> limits = {64, 4096, left, left};
    const std::uint32_t kind = pick(limits.size());
    const std::uint32_t most = std::min(limits[kind], left);
    // All that is left with a chance of a quarter, so that long transfers end after few pieces.
    return kind == 3 || most < 4 ? left : 4 * (1 + pick(most / 4));
}

std::uint8_t Variation::data_offset(std::uint8_t least, std::uint32_t alignment) {
    const std::uint32_t steps = (kLastDataOffset - least) / alignment;
    return static_cast<std::uint8_t>(least + alignment * (coin() ? 0 : pick(steps + 1)));
}

std::size_t Variation::segment() {
    switch (pick(8)) {
    case 0:
        return 1 + pick(8);
    case 1:
        return 1 + pick(200);
    case 2:
        return 1 + pick(100'000);
    default:
        return std::numeric_limits<std::size_t>::max();
    }
}

std::unique_ptr<Variation> make_variation(const Options& options, std::uint64_t connection) {
    const bool random = options.vary || options.reorder || options.c2h_size == kRandomSize ||
                        options.r2t_size == kRandomSize || options.segment == kRandomSize;
    return random ? std::make_unique<Variation>(options.seed, connection) : nullptr;
}

} // namespace mpath::target
