// SPDX-License-Identifier: GPL-2.0-only
#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace mpath {

namespace {
constexpr std::size_t kMostAtOnce = 1U << 30; // isa-l takes the length as an int
} // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t state) noexcept {
    while (!bytes.empty()) {
        const std::size_t length = std::min(bytes.size(), kMostAtOnce);
        // isa-l only reads the buffer, though it does not promise so.
        auto* from = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
        state = crc32_iscsi(from, static_cast<int>(length), state);
        bytes = bytes.subspan(length);
    }
    return state;
}

} // namespace mpath
