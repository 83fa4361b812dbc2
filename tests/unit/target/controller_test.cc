// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "peer.h"
#include "target/controller.h"

namespace mpath::target {
namespace {

using nvme::PropertySize;

struct Subject {
    explicit Subject(Options options = {}, std::uint32_t kato_ms = 2000)
        : controller(1, options, listener, connect_data(nvme::kDynamicController), kato_ms, kSecond) {}
    std::uint64_t csts() { return *controller.property(nvme::property::kCsts, PropertySize::bytes4); }
    void configure(std::uint32_t value) {
        controller.set_property(nvme::property::kCc, PropertySize::bytes4, value);
    }

    Listener listener;
    Controller controller;
};

TEST(TargetController, TellsItsCapabilities) {
    Options options;
    options.queue_size = 128;
    Subject subject(options);
    const nvme::Capabilities cap{*subject.controller.property(nvme::property::kCap, PropertySize::bytes8)};
    EXPECT_EQ(cap.mqes(), 127);
    EXPECT_TRUE(cap.css_nvm());
    EXPECT_EQ(cap.min_page_size(), 4096U);
}

TEST(TargetController, HasNoOtherProperties) {
    Subject subject;
    EXPECT_FALSE(subject.controller.property(nvme::property::kCap, PropertySize::bytes4));
    EXPECT_FALSE(subject.controller.property(nvme::property::kVs, PropertySize::bytes8));
    EXPECT_FALSE(subject.controller.property(0x1000, PropertySize::bytes4));
    EXPECT_FALSE(subject.controller.set_property(nvme::property::kCsts, PropertySize::bytes4, 1));
}

TEST(TargetController, BecomesReadyWhenEnabled) {
    Subject subject;
    EXPECT_FALSE(subject.controller.ready());
    subject.configure(kEnableController);
    EXPECT_TRUE(subject.controller.ready());
    EXPECT_EQ(subject.csts(), nvme::csts::kReady);
}

TEST(TargetController, FailsOnAConfigurationItDoesNotSupport) {
    for (const std::uint32_t value :
         {nvme::cc::kEnable, kEnableController | (1U << 4), kEnableController | (1U << 7)}) {
        Subject subject;
        subject.configure(value);
        EXPECT_EQ(subject.csts(), nvme::csts::kFatal) << value;
    }
}

TEST(TargetController, CompletesAShutdownAtOnce) {
    Subject subject;
    subject.configure(kEnableController);
    subject.configure(kEnableController | nvme::cc::kShutdownNormal);
    EXPECT_EQ(subject.csts() & nvme::csts::kShutdownMask, nvme::csts::kShutdownComplete);
}

TEST(TargetController, CountsResets) {
    Subject subject;
    subject.configure(kEnableController);
    subject.configure(0);
    EXPECT_EQ(subject.controller.resets(), 1U);
    EXPECT_FALSE(subject.controller.ready());
}

TEST(TargetController, WaitsAWholeKatoForAKeepAlive) {
    Subject subject({}, 1950); // rounded up to 2 s
    EXPECT_FALSE(subject.controller.silent_too_long(kSecond + 2 * kSecond));
    EXPECT_TRUE(subject.controller.silent_too_long(kSecond + 2 * kSecond + 1));
    subject.controller.heard_keep_alive(2 * kSecond);
    EXPECT_FALSE(subject.controller.silent_too_long(2 * kSecond + 2 * kSecond));
}

TEST(TargetController, OtherCommandsAreNoKeepAliveUnlessAnnounced) {
    Subject plain;
    plain.controller.heard_command(2 * kSecond);
    EXPECT_TRUE(plain.controller.silent_too_long(kSecond + 2 * kSecond + 1));

    Options options;
    options.traffic_based_keep_alive = true;
    Subject traffic(options);
    traffic.controller.heard_command(2 * kSecond);
    EXPECT_FALSE(traffic.controller.silent_too_long(kSecond + 2 * kSecond + 1));
}

TEST(TargetController, KatoZeroOrUnenforcedNeverExpires) {
    Subject without({}, 0);
    EXPECT_FALSE(without.controller.silent_too_long(1000 * kSecond));
    Options options;
    options.enforce_kato = false;
    Subject lenient(options);
    EXPECT_FALSE(lenient.controller.silent_too_long(1000 * kSecond));
}

} // namespace
} // namespace mpath::target
