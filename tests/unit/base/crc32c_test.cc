// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/crc32c.h"

namespace mpath {
namespace {

/// 32 bytes from `first`, each `step` above the one before.
std::array<std::byte, 32> series(int first, int step) {
    std::array<std::byte, 32> bytes{};
    for (int i = 0; i < 32; ++i) {
        bytes[i] = static_cast<std::byte>(first + i * step);
    }
    return bytes;
}

TEST(Crc32c, IsWhatRfc3720Shows) {
    EXPECT_EQ(crc32c(series(0, 0)), 0x8a9136aaU);
    EXPECT_EQ(crc32c(series(0xff, 0)), 0x62a8ab43U);
    EXPECT_EQ(crc32c(series(0, 1)), 0x46dd794eU);
    EXPECT_EQ(crc32c(series(31, -1)), 0x113fdb5cU);
}

TEST(Crc32c, IsTheSameInPieces) {
    const auto bytes = series(7, 13);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        const std::span<const std::byte> whole(bytes);
        const std::uint32_t state = crc32c(whole.subspan(cut), crc32c(whole.first(cut), kCrc32cBegin));
        EXPECT_EQ(crc32c_end(state), crc32c(whole)) << cut;
    }
}

TEST(Crc32c, OfNothingIsZero) {
    EXPECT_EQ(crc32c({}), 0U);
}

} // namespace
} // namespace mpath
