// SPDX-License-Identifier: GPL-2.0-only
#include "record/units.h"

#include <gtest/gtest.h>

#include "record/text.h"

namespace mpath::record {
namespace {

struct Sample {
    double value;
    const char* text;
};

TEST(Units, TimesHaveThreeDigitsAndTheUnitThatFits) {
    for (const auto& [value, text] :
         {Sample{0, "0ns"}, Sample{7, "7ns"}, Sample{999, "999ns"}, Sample{999.6, "1.00µs"},
          Sample{1'234, "1.23µs"}, Sample{12'345, "12.3µs"}, Sample{123'456, "123µs"},
          Sample{999'499, "999µs"}, Sample{999'600, "1.00ms"}, Sample{9'996'000, "10.0ms"},
          Sample{99'960'000, "100ms"}, Sample{4.56e9, "4.56s"}, Sample{3.6e12, "3600s"}}) {
        EXPECT_EQ(format_time(value), text);
    }
}

TEST(Units, CountsAreExactBelowAThousand) {
    for (const auto& [value, text] :
         {Sample{0, "0"}, Sample{999, "999"}, Sample{1'000, "1.00k"}, Sample{12'345, "12.3k"},
          Sample{123'456, "123k"}, Sample{1'234'567, "1.23M"}}) {
        EXPECT_EQ(format_count(value), text);
    }
}

TEST(Units, RatesAreDecimal) {
    for (const auto& [value, text] :
         {Sample{0, "0B/s"}, Sample{512, "512B/s"}, Sample{48.2e6, "48.2MB/s"}, Sample{5.1e9, "5.10GB/s"}}) {
        EXPECT_EQ(format_rate(value), text);
    }
}

TEST(Units, DepthsKeepTwoDigitsWhenSmall) {
    for (const auto& [value, text] :
         {Sample{0, "0"}, Sample{0.5, "0.50"}, Sample{31.97, "32.0"}, Sample{1023.7, "1024"}}) {
        EXPECT_EQ(format_depth(value), text);
    }
}

TEST(Text, IsClippedByCharactersNotBytes) {
    EXPECT_EQ(text_width("µs"), 2U);
    EXPECT_EQ(clip_end("abcdef", 6), "abcdef");
    EXPECT_EQ(clip_end("äbcdef", 4), "äbc…");
    EXPECT_EQ(clip_middle("127.0.0.1:4420/nqn.2014/1", 11), "127.0…014/1");
    EXPECT_EQ(pad_left("µs", 4), "  µs");
    EXPECT_EQ(pad_right("µs", 4), "µs  ");
}

TEST(Text, OfAPeerCanNotSteerTheTerminal) {
    EXPECT_EQ(printable("a\x1b[31mb\x07 \xc2\x9b"
                        "c µ"),
              "a?[31mb? ?c µ");
}

} // namespace
} // namespace mpath::record
