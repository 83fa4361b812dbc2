// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "target/options.h"

namespace mpath::target {
namespace {

TEST(TargetOptions, SizesTakeAUnit) {
    const std::pair<const char*, std::uint64_t> table[] = {
        {"0", 0},           {"4096", 4096},     {"8k", 8192}, {"256M", 256ULL << 20},
        {"1g", 1ULL << 30}, {"2T", 2ULL << 40},
    };
    for (const auto& [text, size] : table) {
        EXPECT_EQ(parse_size(text).value_or(~0ULL), size) << text;
    }
    for (const char* text : {"", "M", "1MB", "-1", "1.5G", "99999999999G", "0x10"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
}

TEST(TargetOptions, StepsMayBeRandom) {
    EXPECT_EQ(parse_step("random").value(), kRandomSize);
    EXPECT_EQ(parse_step("4k").value(), 4096U);
    EXPECT_EQ(parse_step("1001").value(), 1001U);
    for (const char* text : {"", "Random", "4G", "-1"}) {
        EXPECT_FALSE(parse_step(text)) << text;
    }
}

TEST(TargetOptions, VaryingTurnsEveryChoiceOn) {
    Options options;
    options.vary = true;
    const auto fine = checked(options);
    ASSERT_TRUE(fine);
    EXPECT_EQ(fine->r2t_size, kRandomSize);
    EXPECT_EQ(fine->c2h_size, kRandomSize);
    EXPECT_EQ(fine->segment, kRandomSize);
    EXPECT_TRUE(fine->reorder);
}

TEST(TargetOptions, AListenerIsAnAddressAndAttributes) {
    const auto listener = parse_listener("127.0.0.1:4420,name=b,ana=non-optimized,delay=200us");
    ASSERT_TRUE(listener);
    EXPECT_EQ(listener->address, "127.0.0.1");
    EXPECT_EQ(listener->port, 4420);
    EXPECT_EQ(listener->name, "b");
    EXPECT_EQ(listener->ana, nvme::AnaState::non_optimized);
    EXPECT_EQ(listener->delay, 200 * kMicrosecond);
}

TEST(TargetOptions, AnIpv6ListenerIsInBrackets) {
    const auto listener = parse_listener("[::1]:0");
    ASSERT_TRUE(listener);
    EXPECT_EQ(listener->address, "::1");
    EXPECT_EQ(listener->port, 0);
}

TEST(TargetOptions, AListenerThatMakesNoSenseIsRefused) {
    for (const char* text : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:1,colour=red",
                             "127.0.0.1:1,ana=fine", "127.0.0.1:1,delay=5", "127.0.0.1:1,name="}) {
        EXPECT_FALSE(parse_listener(text)) << text;
    }
}

TEST(TargetOptions, UnnamedListenersAreNumbered) {
    Options options;
    options.listeners.resize(2);
    const auto fine = checked(options);
    ASSERT_TRUE(fine);
    EXPECT_EQ(fine->listeners[0].name, "p0");
    EXPECT_EQ(fine->listeners[1].name, "p1");
}

TEST(TargetOptions, WhatCannotBeServedIsRefused) {
    const std::pair<const char*, void (*)(Options&)> table[] = {
        {"no namespace", [](Options& o) { o.namespaces = 0; }},
        {"odd block size", [](Options& o) { o.block_size = 1000; }},
        {"large block size", [](Options& o) { o.block_size = 1 << 17; }},
        {"size no multiple of the block", [](Options& o) { o.size = 4097; }},
        {"MDTS no power of two", [](Options& o) { o.mdts = 12288; }},
        {"MDTS below a block", [](Options& o) { o.block_size = 65536, o.mdts = 8192; }},
        {"protection without metadata", [](Options& o) { o.protection = 1; }},
        {"small MAXH2CDATA", [](Options& o) { o.max_h2c_data = 2048; }},
        {"CPDA", [](Options& o) { o.cpda = 32; }},
        {"R2T size", [](Options& o) { o.r2t_size = 1001; }},
        {"no R2T at all", [](Options& o) { o.max_r2t = 0; }},
        {"Write Zeroes limit", [](Options& o) { o.max_write_zeroes = 10000; }},
        {"NOWS", [](Options& o) { o.optimal_write = 65537; }},
        {"misdeed out of order",
         [](Options& o) {
             o.reorder = true, o.listeners.resize(1), o.listeners[0].breach.what = Misdeed::hlen;
         }},
        {"queue of one", [](Options& o) { o.queue_size = 1; }},
        {"long NQN", [](Options& o) { o.subnqn = std::string(224, 'n'); }},
        {"equal names", [](Options& o) { o.listeners.resize(2), o.listeners[0].name = "p1"; }},
    };
    for (const auto& [name, change] : table) {
        Options options;
        change(options);
        EXPECT_FALSE(checked(options)) << name;
    }
}

} // namespace
} // namespace mpath::target
