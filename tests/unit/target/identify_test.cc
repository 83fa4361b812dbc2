// SPDX-License-Identifier: GPL-2.0-only
// Identify data and log pages, read with libnvme's structures where it has them.
#include <endian.h>
#include <libnvme.h>

#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "nvme/wire/identify.h"
#include "peer.h"
#include "target/identify.h"
#include "target/log_page.h"

namespace mpath::target {
namespace {

using nvme::StatusCode;

struct Identified : Bench {
    explicit Identified(Options options = small())
        : Bench(std::move(options)),
          controller(7, subsystem->options(), listener, connect_data(0xffff), 0, 0) {}

    tl::expected<Bytes, nvme::Status> ask(std::uint8_t what, std::uint32_t nsid = 0) {
        nvme::Sqe sqe = admin_command(nvme::admin_opcode::kIdentify, 1);
        sqe.cdw10 = what;
        sqe.nsid = nsid;
        return identify(*subsystem, controller, sqe);
    }
    tl::expected<Bytes, nvme::Status> log(std::uint32_t cdw10, std::uint32_t length,
                                          std::uint32_t offset = 0) {
        nvme::Sqe sqe = admin_command(nvme::admin_opcode::kGetLogPage, 1);
        sqe.cdw10 = cdw10 | ((length / 4 - 1) << 16);
        sqe.cdw12 = offset;
        return log_page(*subsystem, controller, sqe);
    }
    template <typename T>
    T page(std::uint8_t what, std::uint32_t nsid = 0) {
        const auto bytes = ask(what, nsid);
        EXPECT_TRUE(bytes);
        T structure;
        std::memcpy(&structure, bytes->data(), sizeof(T));
        return structure;
    }
    Controller controller;
};

TEST(TargetIdentify, ControllerSaysWhatTheOptionsSay) {
    Options options = Bench::small();
    options.model = "model";
    options.mdts = 128 << 10;
    options.in_capsule = 0;
    options.anatt = 3;
    options.namespaces = 5;
    Identified bench(options);
    const auto page = bench.page<nvme_id_ctrl>(NVME_IDENTIFY_CNS_CTRL);
    EXPECT_EQ(std::string(page.mn, sizeof(page.mn)), "model" + std::string(35, ' '));
    EXPECT_EQ(page.mdts, 5);
    EXPECT_EQ(le16toh(page.cntlid), 7);
    EXPECT_EQ(le32toh(page.ioccsz), 4U);
    EXPECT_EQ(le16toh(page.icdoff), 0);
    EXPECT_EQ(page.anatt, 3);
    EXPECT_TRUE(page.cmic & NVME_CTRL_CMIC_MULTI_ANA_REPORTING);
    EXPECT_EQ(le32toh(page.nanagrpid), 5U);
    EXPECT_EQ(le32toh(page.nn), 5U);
    EXPECT_STREQ(page.subnqn, options.subnqn.c_str());
    EXPECT_EQ(page.kas, 1);
}

TEST(TargetIdentify, NamespaceSaysItsSizeAndFormat) {
    Identified bench;
    const auto page = bench.page<nvme_id_ns>(NVME_IDENTIFY_CNS_NS, 1);
    EXPECT_EQ(le64toh(page.nsze), 8192U);
    EXPECT_EQ(page.lbaf[0].ds, 9);
    EXPECT_EQ(le16toh(page.lbaf[0].ms), 0);
    EXPECT_EQ(page.nmic & NVME_NS_NMIC_SHARED, NVME_NS_NMIC_SHARED);
    EXPECT_EQ(le32toh(page.anagrpid), 1U);
}

TEST(TargetIdentify, MetadataAndProtectionAreAnnounced) {
    Options options = Bench::small();
    options.metadata = 8;
    options.protection = 1;
    Identified bench(options);
    const auto page = bench.page<nvme_id_ns>(NVME_IDENTIFY_CNS_NS, 1);
    EXPECT_EQ(le16toh(page.lbaf[0].ms), 8);
    EXPECT_EQ(page.dps & NVME_NS_DPS_PI_MASK, 1);
}

std::map<int, Bytes> descriptors(const Bytes& page) {
    std::map<int, Bytes> found;
    for (std::size_t at = 0; at + 4 <= page.size() && page[at + 1] != std::byte{0};) {
        const auto length = static_cast<std::size_t>(page[at + 1]);
        const auto begin = page.begin() + static_cast<std::ptrdiff_t>(at + 4);
        found[static_cast<int>(page[at])] = Bytes(begin, begin + static_cast<std::ptrdiff_t>(length));
        at += 4 + length;
    }
    return found;
}

TEST(TargetIdentify, AnnouncesTheIdentitiesAskedFor) {
    for (int mask = 0; mask < 8; ++mask) {
        Options options = Bench::small();
        options.announce_uuid = (mask & 1) != 0;
        options.announce_nguid = (mask & 2) != 0;
        options.announce_eui64 = (mask & 4) != 0;
        Identified bench(options);
        const auto found = descriptors(*bench.ask(NVME_IDENTIFY_CNS_NS_DESC_LIST, 1));
        EXPECT_EQ(found.contains(NVME_NIDT_UUID), options.announce_uuid);
        EXPECT_EQ(found.contains(NVME_NIDT_NGUID), options.announce_nguid);
        EXPECT_EQ(found.contains(NVME_NIDT_EUI64), options.announce_eui64);
        const auto page = bench.page<nvme::IdentifyNamespace>(NVME_IDENTIFY_CNS_NS, 1);
        EXPECT_EQ(page.nguid != decltype(page.nguid){}, options.announce_nguid);
        EXPECT_EQ(page.eui64 != decltype(page.eui64){}, options.announce_eui64);
    }
}

TEST(TargetIdentify, ListsNamespacesAboveTheOneGiven) {
    Options options = Bench::small();
    options.namespaces = 3;
    Identified bench(options);
    const auto page = bench.page<std::array<Le32, 4>>(NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 1);
    EXPECT_EQ(page[0], 2U);
    EXPECT_EQ(page[1], 3U);
    EXPECT_EQ(page[2], 0U);
    EXPECT_EQ(bench.ask(NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 0xfffffffe).error().code(),
              StatusCode::invalid_namespace);
}

TEST(TargetIdentify, RefusesWhatItDoesNotKnow) {
    Identified bench;
    EXPECT_EQ(bench.ask(0x7f).error().code(), StatusCode::invalid_field);
    EXPECT_EQ(bench.ask(NVME_IDENTIFY_CNS_NS, 2).error().code(), StatusCode::invalid_namespace);
    EXPECT_EQ(bench.ask(NVME_IDENTIFY_CNS_NS_DESC_LIST, 0).error().code(), StatusCode::invalid_namespace);
}

TEST(TargetLog, AnaShowsAGroupForEachNamespaceInTheListenersState) {
    Options options = Bench::small();
    options.namespaces = 2;
    Identified bench(options);
    bench.listener.options.ana = nvme::AnaState::non_optimized;
    const auto bytes = bench.log(NVME_LOG_LID_ANA, 16 + 2 * 36);
    ASSERT_TRUE(bytes);
    nvme_ana_log header;
    std::memcpy(&header, bytes->data(), sizeof(header));
    EXPECT_EQ(le16toh(header.ngrps), 2);
    for (std::uint32_t group = 1; group <= 2; ++group) {
        nvme::AnaGroupDescriptor descriptor;
        std::memcpy(&descriptor, bytes->data() + 16 + (group - 1) * 36, sizeof(descriptor));
        EXPECT_EQ(descriptor.group, group);
        EXPECT_EQ(descriptor.nsids, 1U);
        EXPECT_EQ(descriptor.state, NVME_ANA_STATE_NONOPTIMIZED);
        EXPECT_EQ(static_cast<std::uint32_t>((*bytes)[16 + (group - 1) * 36 + 32]), group);
    }
}

TEST(TargetLog, AnaGroupsComeWithoutNamespacesWhenAskedFor) {
    Identified bench;
    const auto bytes = bench.log(NVME_LOG_LID_ANA | nvme::kAnaGroupsOnly, 48);
    ASSERT_TRUE(bytes);
    EXPECT_EQ((*bytes)[16 + 4], std::byte{0});
}

TEST(TargetLog, IsReadInPieces) {
    Options options = Bench::small();
    options.namespaces = 8;
    Identified bench(options);
    const auto whole = *bench.log(NVME_LOG_LID_ANA, 304);
    Bytes pieces;
    for (std::uint32_t offset = 0; offset < 304; offset += 16) {
        const auto piece = *bench.log(NVME_LOG_LID_ANA, 16, offset);
        pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(pieces, whole);
    EXPECT_EQ(bench.log(NVME_LOG_LID_ANA, 16, 308).error().code(), StatusCode::invalid_field);
    EXPECT_EQ(bench.log(NVME_LOG_LID_ANA, 16, 2).error().code(), StatusCode::invalid_field);
}

TEST(TargetLog, RefusesPagesThatDoNotExist) {
    Identified bench;
    EXPECT_EQ(bench.log(0x99, 16).error().code(), StatusCode::invalid_log_page);
    EXPECT_TRUE(bench.log(NVME_LOG_LID_SMART, 512));
    EXPECT_TRUE(bench.log(NVME_LOG_LID_ERROR, 64));
}

} // namespace
} // namespace mpath::target
