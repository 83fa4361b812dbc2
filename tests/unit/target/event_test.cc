// SPDX-License-Identifier: GPL-2.0-only
// What a script changes about ANA states and namespaces, and how hosts come to know.
#include <gtest/gtest.h>

#include "nvme/wire/identify.h"
#include "stage.h"

namespace mpath::target {
namespace {

namespace admin_opcode = nvme::admin_opcode;
namespace log_page_id = nvme::log_page;
using nvme::AnaState;
using nvme::AsyncEvent;
using nvme::StatusCode;

constexpr std::uint32_t kAllEvents = nvme::async_event::kAnaChange | nvme::async_event::kNamespaceAttribute;

/// Admin commands of one host, and answers in their types.
struct Watcher {
    explicit Watcher(Options options = Bench::small()) : stage(options), host(stage) { stage.reaches(host); }

    void enable(std::uint32_t events = kAllEvents) {
        auto sqe = admin_command(admin_opcode::kSetFeatures, 1);
        sqe.cdw10 = nvme::feature::kAsyncEventConfiguration;
        sqe.cdw11 = events;
        host.admin.capsule(sqe);
        EXPECT_EQ(status_of(host.admin.completion()), StatusCode::success);
    }
    void request(std::uint16_t cid) {
        host.admin.capsule(admin_command(admin_opcode::kAsyncEventRequest, cid));
    }
    /// dw0 of the event that has come; nothing if none has.
    std::optional<std::uint32_t> event() {
        const auto pdu = host.admin.receive();
        return pdu ? std::optional(pdu->as<nvme::CapsuleResp>().cqe.dw0.get()) : std::nullopt;
    }
    Bytes data_of(const nvme::Sqe& sqe) {
        host.admin.capsule(sqe);
        const auto pdu = host.admin.receive();
        if (!pdu || pdu->type() != nvme::PduType::c2h_data) {
            return {};
        }
        EXPECT_EQ(status_of(host.admin.completion()), StatusCode::success);
        return pdu->data();
    }
    Bytes log(std::uint8_t page, std::uint32_t length, std::uint32_t offset = 0, bool retain = false) {
        return data_of(log_command(page, length, offset, retain));
    }
    template <typename T>
    T identify(std::uint8_t cns, std::uint32_t nsid = 1) {
        auto sqe = admin_command(admin_opcode::kIdentify, 1);
        sqe.nsid = nsid;
        sqe.cdw10 = cns;
        sqe.sgl.length = nvme::kIdentifySize;
        T page{};
        const Bytes bytes = data_of(sqe);
        EXPECT_EQ(bytes.size(), sizeof(T));
        std::memcpy(&page, bytes.data(), std::min(bytes.size(), sizeof(T)));
        return page;
    }
    StatusCode identify_status(std::uint32_t nsid) {
        auto sqe = admin_command(admin_opcode::kIdentify, 1);
        sqe.nsid = nsid;
        sqe.sgl.length = nvme::kIdentifySize;
        host.admin.capsule(sqe);
        return status_of(host.admin.completion());
    }
    StatusCode flush(std::uint32_t nsid = 1) {
        auto sqe = blocks_command(nvme::io_opcode::kFlush, 1, 0, 1);
        sqe.nsid = nsid;
        host.io.capsule(sqe);
        return status_of(host.io.completion());
    }
    template <typename T>
    static T at(const Bytes& bytes, std::size_t offset) {
        T structure{};
        EXPECT_LE(offset + sizeof(T), bytes.size());
        std::memcpy(&structure, bytes.data() + offset, sizeof(T));
        return structure;
    }
    /// State, change count and number of NSIDs of a group that is alone in its log entry.
    nvme::AnaGroupDescriptor group(std::uint32_t number, std::uint32_t each_nsids = 1) {
        const auto bytes = log(log_page_id::kAna, 4096);
        return at<nvme::AnaGroupDescriptor>(bytes, 16 + (number - 1) * (32 + 4 * each_nsids));
    }

    Stage stage;
    Association host;
};

Options with_namespaces(std::uint32_t namespaces, std::uint32_t groups) {
    Options options = Bench::small();
    options.namespaces = namespaces;
    options.groups = groups;
    return options;
}

TEST(TargetEvent, AnaChangeIsSentAndSeenInTheLog) {
    Watcher watcher;
    watcher.enable();
    watcher.request(9);
    EXPECT_FALSE(watcher.event());
    watcher.stage.play("on a ana inaccessible");
    EXPECT_EQ(watcher.event(), AsyncEvent::kAnaChanged);
    const auto bytes = watcher.log(log_page_id::kAna, 52);
    EXPECT_EQ(watcher.at<nvme::AnaLogHeader>(bytes, 0).change_count, 2U);
    const auto group = watcher.at<nvme::AnaGroupDescriptor>(bytes, 16);
    EXPECT_EQ(group.state, static_cast<std::uint8_t>(AnaState::inaccessible));
    EXPECT_EQ(group.change_count, 2U);
    EXPECT_EQ(watcher.flush(), StatusCode::ana_inaccessible);
    EXPECT_EQ(watcher.stage.listener.counters.events, 1U);
}

TEST(TargetEvent, IsNotSentToWhoHasNotEnabledIt) {
    Watcher watcher;
    watcher.enable(nvme::async_event::kNamespaceAttribute);
    watcher.request(9);
    watcher.stage.play("on a ana inaccessible");
    EXPECT_FALSE(watcher.event());
}

TEST(TargetEvent, IsWithheldWhenTheScriptSaysSo) {
    Watcher watcher;
    watcher.enable();
    watcher.request(9);
    watcher.stage.play("for 1s on a ana inaccessible no-event");
    watcher.stage.wait(kSecond);
    EXPECT_FALSE(watcher.event());
    EXPECT_EQ(watcher.group(1).change_count, 3U);
}

TEST(TargetEvent, IsNotSentForAStateThatStays) {
    Watcher watcher;
    watcher.enable();
    watcher.request(9);
    watcher.stage.play("on a ana optimized\non b ana inaccessible");
    EXPECT_FALSE(watcher.event());
    EXPECT_EQ(watcher.group(1).change_count, 1U);
}

TEST(TargetEvent, WaitsForARequest) {
    Watcher watcher;
    watcher.enable();
    watcher.stage.play("on a ana inaccessible");
    EXPECT_FALSE(watcher.event());
    watcher.request(9);
    EXPECT_EQ(watcher.event(), AsyncEvent::kAnaChanged);
}

TEST(TargetEvent, ComesAgainOnlyWhenTheLogHasBeenRead) {
    Watcher watcher;
    watcher.enable();
    watcher.request(9);
    watcher.request(10);
    watcher.stage.play("on a ana inaccessible");
    EXPECT_TRUE(watcher.event());
    watcher.stage.play("on a ana non-optimized");
    EXPECT_FALSE(watcher.event());
    watcher.log(log_page_id::kAna, 52, 0, true);
    watcher.stage.play("on a ana optimized");
    EXPECT_FALSE(watcher.event()) << "RAE retains it";
    watcher.log(log_page_id::kAna, 52);
    EXPECT_FALSE(watcher.event());
    watcher.stage.play("on a ana change");
    EXPECT_EQ(watcher.event(), AsyncEvent::kAnaChanged);
}

TEST(TargetEvent, ATransitionInALogReadInPartsShowsInItsChangeCount) {
    Watcher watcher;
    const auto before = watcher.at<nvme::AnaLogHeader>(watcher.log(log_page_id::kAna, 16), 0);
    watcher.stage.play("on a ana change");
    watcher.log(log_page_id::kAna, 36, 16);
    const auto after = watcher.at<nvme::AnaLogHeader>(watcher.log(log_page_id::kAna, 16), 0);
    EXPECT_NE(before.change_count.get(), after.change_count.get());
}

TEST(TargetEvent, StatesAreOfSingleGroups) {
    Watcher watcher(with_namespaces(3, 0));
    watcher.stage.play("on a group 2 ana inaccessible");
    EXPECT_EQ(watcher.flush(1), StatusCode::success);
    EXPECT_EQ(watcher.flush(2), StatusCode::ana_inaccessible);
    EXPECT_EQ(watcher.group(1).change_count, 1U);
    EXPECT_EQ(watcher.group(2).change_count, 2U);
}

TEST(TargetEvent, GroupsTakeNamespacesByTurns) {
    Watcher watcher(with_namespaces(4, 2));
    EXPECT_EQ(watcher.identify<nvme::IdentifyController>(nvme::cns::kController).anagrpmax, 2U);
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace, 3).anagrpid, 1U);
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace, 4).anagrpid, 2U);
    const auto bytes = watcher.log(log_page_id::kAna, 96);
    EXPECT_EQ(watcher.at<nvme::AnaLogHeader>(bytes, 0).groups, 2U);
    EXPECT_EQ(watcher.at<nvme::AnaGroupDescriptor>(bytes, 16).nsids, 2U);
    EXPECT_EQ(watcher.at<Le32>(bytes, 48), 1U);
    EXPECT_EQ(watcher.at<Le32>(bytes, 52), 3U);
}

TEST(TargetEvent, ThereCanBeManyMoreGroupsThanNamespaces) {
    Watcher watcher(with_namespaces(1, 300));
    const auto bytes = watcher.log(log_page_id::kAna, 16 + 300 * 32 + 4);
    EXPECT_EQ(watcher.at<nvme::AnaLogHeader>(bytes, 0).groups, 300U);
    const auto last = watcher.at<nvme::AnaGroupDescriptor>(bytes, 16 + 36 + 298 * 32);
    EXPECT_EQ(last.group, 300U);
    EXPECT_EQ(last.nsids, 0U);
}

TEST(TargetEvent, WithoutAnaReportingNothingSpeaksOfAna) {
    Options options = Bench::small();
    options.ana_reporting = false;
    Watcher watcher(options);
    const auto page = watcher.identify<nvme::IdentifyController>(nvme::cns::kController);
    EXPECT_EQ(page.cmic & nvme::cmic::kAnaReporting, 0);
    EXPECT_EQ(page.anacap, 0);
    EXPECT_EQ(page.oaes & nvme::async_event::kAnaChange, 0U);
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace).anagrpid, 0U);
    watcher.host.admin.capsule(log_command(log_page_id::kAna, 52));
    EXPECT_EQ(status_of(watcher.host.admin.completion()), StatusCode::invalid_log_page);
    watcher.stage.play("on a ana inaccessible");
    EXPECT_EQ(watcher.flush(), StatusCode::ana_inaccessible) << "a script can have it say so all the same";
}

TEST(TargetEvent, ResizeIsSentAndListed) {
    Watcher watcher(with_namespaces(2, 0));
    watcher.enable();
    watcher.request(9);
    watcher.stage.play("on a group 2 resize 8M");
    EXPECT_EQ(watcher.event(), AsyncEvent::kNamespaceAttributeChanged);
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace, 2).nsze, 8U << 11);
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace, 1).nsze, 4U << 11);
    const Bytes retained = watcher.log(log_page_id::kChangedNamespaces, 4096, 0, true);
    const Bytes first = watcher.log(log_page_id::kChangedNamespaces, 4096);
    const Bytes second = watcher.log(log_page_id::kChangedNamespaces, 4096);
    EXPECT_EQ(watcher.at<Le32>(retained, 0), 2U);
    EXPECT_EQ(watcher.at<Le32>(first, 0), 2U);
    EXPECT_EQ(watcher.at<Le32>(first, 4), 0U);
    EXPECT_EQ(watcher.at<Le32>(second, 0), 0U);
}

TEST(TargetEvent, AGrownNamespaceTakesWritesAndAShrunkOneRefusesThem) {
    Watcher watcher;
    const auto write_behind = [&] {
        watcher.host.io.capsule(blocks_command(nvme::io_opcode::kWrite, 1, 8 << 11, 1), pattern(512));
        return status_of(watcher.host.io.completion());
    };
    EXPECT_EQ(write_behind(), StatusCode::lba_out_of_range);
    watcher.stage.play("on a resize 16M");
    EXPECT_EQ(write_behind(), StatusCode::success);
    watcher.stage.play("on a resize 1M");
    EXPECT_EQ(write_behind(), StatusCode::lba_out_of_range);
}

TEST(TargetEvent, ARemovedNamespaceIsGoneForATime) {
    Watcher watcher(with_namespaces(2, 0));
    watcher.enable();
    watcher.request(9);
    watcher.request(10);
    watcher.stage.play("for 1s on a group 1 remove");
    EXPECT_EQ(watcher.event(), AsyncEvent::kNamespaceAttributeChanged);
    EXPECT_EQ(watcher.flush(1), StatusCode::invalid_namespace);
    EXPECT_EQ(watcher.identify_status(1), StatusCode::invalid_namespace);
    EXPECT_EQ(watcher.flush(2), StatusCode::success);
    const auto list = watcher.identify<std::array<Le32, 1024>>(nvme::cns::kActiveNamespaces, 0);
    EXPECT_EQ(list[0], 2U);
    EXPECT_EQ(watcher.group(1).nsids, 0U);
    watcher.log(log_page_id::kChangedNamespaces, 4096);
    watcher.stage.wait(kSecond);
    EXPECT_EQ(watcher.event(), AsyncEvent::kNamespaceAttributeChanged);
    EXPECT_EQ(watcher.flush(1), StatusCode::success);
}

TEST(TargetEvent, AnotherIdentityIsTheOneThatItsTextGives) {
    Watcher watcher;
    const auto own = watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace).nguid;
    watcher.stage.play("for 1s on a identity another");
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace).nguid,
              derive_identity("another", 1).nguid);
    watcher.stage.wait(kSecond);
    EXPECT_EQ(watcher.identify<nvme::IdentifyNamespace>(nvme::cns::kNamespace).nguid, own);
}

TEST(TargetEvent, LiesOfTheAnaLog) {
    struct Lie {
        const char* word;
        std::uint16_t groups;
        std::uint32_t group;
        std::uint32_t nsids;
        std::uint8_t state;
    };
    for (const Lie& lie : {
             Lie{"ana-group-0", 1, 0, 1, 1},
             Lie{"ana-group-beyond", 1, 2, 1, 1},
             Lie{"ana-state-0", 1, 1, 1, 0},
             Lie{"ana-state-7", 1, 1, 1, 7},
             Lie{"ana-nsids-beyond", 1, 1, 14, 1},
             Lie{"ana-groups-more", 2, 1, 1, 1},
             Lie{"ana-groups-fewer", 0, 1, 1, 1},
         }) {
        Watcher watcher;
        watcher.stage.play(fmt::format("on a lie {} count 1", lie.word));
        const auto bytes = watcher.log(log_page_id::kAna, 52);
        const auto group = watcher.at<nvme::AnaGroupDescriptor>(bytes, 16);
        EXPECT_EQ(watcher.at<nvme::AnaLogHeader>(bytes, 0).groups, lie.groups) << lie.word;
        EXPECT_EQ(group.group, lie.group) << lie.word;
        EXPECT_EQ(group.nsids, lie.nsids) << lie.word;
        EXPECT_EQ(group.state, lie.state) << lie.word;
        const auto truth = watcher.group(1);
        EXPECT_EQ(truth.group, 1U) << lie.word;
        EXPECT_EQ(truth.state, 1U) << lie.word;
    }
}

TEST(TargetEvent, TheChangeCountMovesWithEachPartRead) {
    Watcher watcher;
    watcher.stage.play("on a lie ana-count-moves");
    for (const std::uint64_t count : {2U, 3U, 4U}) {
        EXPECT_EQ(watcher.at<nvme::AnaLogHeader>(watcher.log(log_page_id::kAna, 16), 0).change_count, count);
    }
}

} // namespace
} // namespace mpath::target
