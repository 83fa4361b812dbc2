// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "target/namespace.h"

namespace mpath::target {
namespace {

constexpr std::uint64_t kSize = 64 * 1024;

std::vector<std::byte> contents(const Namespace& space, std::uint64_t offset, std::uint32_t length) {
    std::vector<std::byte> bytes;
    space.read(offset, length, [&](const std::byte* from, std::uint32_t count) {
        bytes.insert(bytes.end(), from, from + count);
    });
    return bytes;
}

bool all_are(const std::vector<std::byte>& bytes, std::byte value) {
    return std::all_of(bytes.begin(), bytes.end(), [value](std::byte byte) { return byte == value; });
}

TEST(TargetNamespace, ZeroesARangeAndNothingBeside) {
    const std::pair<std::uint64_t, std::uint64_t> table[] = {
        {0, kSize}, {512, 512}, {512, 4096}, {4096, 8192}, {3584, 9216}, {kSize - 512, 512}, {1024, 0},
    };
    for (const auto& [offset, length] : table) {
        auto space = *Namespace::create(1, kSize, 512, false, {});
        std::memset(space->destination(0), 0xee, kSize);
        space->zero(offset, length);
        const auto end = static_cast<std::uint32_t>(offset + length);
        EXPECT_TRUE(all_are(contents(*space, 0, static_cast<std::uint32_t>(offset)), std::byte{0xee}))
            << offset;
        EXPECT_TRUE(all_are(contents(*space, offset, static_cast<std::uint32_t>(length)), std::byte{0}))
            << offset;
        EXPECT_TRUE(all_are(contents(*space, end, static_cast<std::uint32_t>(kSize) - end), std::byte{0xee}))
            << offset;
    }
}

TEST(TargetNamespace, ANullOneReadsAsManyNonZeroBytesAsAskedFor) {
    auto space = *Namespace::create(1, 1ULL << 40, 4096, true, {});
    EXPECT_EQ(space->blocks(), 1ULL << 28);
    EXPECT_EQ(space->destination(4096), nullptr);
    const auto bytes = contents(*space, 1ULL << 39, 3 * Namespace::kPatternSize / 2);
    EXPECT_EQ(bytes.size(), 3 * Namespace::kPatternSize / 2);
    EXPECT_FALSE(all_are(bytes, std::byte{0}));
}

TEST(TargetIdentity, IsTheSameForTheSameTextAndNumber) {
    EXPECT_EQ(derive_identity("a", 1).uuid, derive_identity("a", 1).uuid);
    EXPECT_NE(derive_identity("a", 1).uuid, derive_identity("a", 2).uuid);
    EXPECT_NE(derive_identity("a", 1).uuid, derive_identity("b", 1).uuid);
    EXPECT_NE(derive_identity("a", 1).nguid, derive_identity("a", 1).uuid);
    EXPECT_NE(random_device_id(), random_device_id());
}

} // namespace
} // namespace mpath::target
