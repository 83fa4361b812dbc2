// SPDX-License-Identifier: GPL-2.0-only
#include <utility>

#include <gtest/gtest.h>

#include "base/duration.h"

namespace mpath {
namespace {

TEST(Duration, NeedsAUnit) {
    const std::pair<const char*, Nanoseconds> table[] = {
        {"0", 0},
        {"50ns", 50},
        {"200us", 200'000},
        {"1.5ms", 1'500'000},
        {"2s", 2 * kSecond},
        {"3m", 180 * kSecond},
        {"1h", 3600 * kSecond},
    };
    for (const auto& [text, duration] : table) {
        EXPECT_EQ(parse_duration(text).value_or(~0ULL), duration) << text;
    }
    for (const char* text : {"", "200", "us", "-1ms", "1d", "nan", "infs"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

} // namespace
} // namespace mpath
