// SPDX-License-Identifier: GPL-2.0-only
// What a namespace says of itself, and refuses.
#include <gtest/gtest.h>

#include "nvme/wire/identify.h"
#include "peer.h"

namespace mpath::target {
namespace {

using nvme::StatusCode;
namespace io_opcode = nvme::io_opcode;

template <typename Page>
Page identified(Peer& admin, std::uint8_t what) {
    nvme::Sqe sqe = admin_command(nvme::admin_opcode::kIdentify, 1);
    sqe.cdw10 = what;
    sqe.nsid = what == nvme::cns::kController ? 0 : 1;
    sqe.sgl.length = nvme::kIdentifySize;
    admin.capsule(sqe);
    const auto pdu = admin.receive();
    EXPECT_TRUE(pdu && pdu->type() == nvme::PduType::c2h_data);
    EXPECT_EQ(status_of(admin.completion()), StatusCode::success);
    Page page;
    std::memcpy(&page, pdu->data().data(), sizeof(page));
    return page;
}

StatusCode trim(Peer& io, std::uint32_t blocks) {
    nvme::Sqe sqe = admin_command(io_opcode::kDatasetManagement, 4);
    sqe.nsid = 1;
    sqe.cdw11 = nvme::kDsmDeallocate;
    nvme::DsmRange range;
    range.blocks = blocks;
    io.capsule(sqe, bytes_of(range));
    return status_of(io.completion());
}

StatusCode write(Peer& io, std::uint16_t control = 0) {
    nvme::Sqe sqe = blocks_command(io_opcode::kWrite, 1, 0, 1);
    sqe.cdw12 = sqe.cdw12 | std::uint32_t{control} << 16;
    io.capsule(sqe, pattern(512));
    return status_of(io.completion());
}

StatusCode write_zeroes(Peer& io, std::uint32_t blocks) {
    io.capsule(blocks_command(io_opcode::kWriteZeroes, 1, 0, blocks));
    return status_of(io.completion());
}

TEST(TargetNamespace, WriteProtectedSaysSoAndRefusesChanges) {
    Options options = Bench::small();
    options.read_only = true;
    Bench bench(options);
    Association host(bench);
    EXPECT_EQ(identified<nvme::IdentifyNamespace>(host.admin, nvme::cns::kNamespace).nsattr, 1);
    EXPECT_EQ(
        identified<nvme::IdentifyIndependentNamespace>(host.admin, nvme::cns::kIndependentNamespace).nsattr,
        1);
    EXPECT_EQ(write(host.io), StatusCode::namespace_write_protected);
    EXPECT_EQ(write_zeroes(host.io, 1), StatusCode::namespace_write_protected);
    EXPECT_EQ(trim(host.io, 1), StatusCode::namespace_write_protected);
    host.io.capsule(blocks_command(io_opcode::kFlush, 1, 0, 1));
    EXPECT_EQ(status_of(host.io.completion()), StatusCode::success);
    host.io.capsule(blocks_command(io_opcode::kRead, 1, 0, 1));
    EXPECT_EQ(host.io.receive()->data(), Bytes(512));
}

TEST(TargetNamespace, AnnouncesBoundaryAndPreferences) {
    Options options = Bench::small();
    options.noiob = 64;
    options.preferred_write = 8;
    options.optimal_write = 256;
    Bench bench(options);
    Association host(bench);
    const auto page = identified<nvme::IdentifyNamespace>(host.admin, nvme::cns::kNamespace);
    EXPECT_EQ(page.noiob, 64);
    EXPECT_EQ(page.nsfeat & nvme::kNsfeatPreferences, nvme::kNsfeatPreferences);
    EXPECT_EQ(page.npwg, 7);
    EXPECT_EQ(page.npwa, 7);
    EXPECT_EQ(page.nows, 255);
}

TEST(TargetNamespace, OptionalCommandsCanBeLeftOut) {
    for (const bool there : {false, true}) {
        Options options = Bench::small();
        options.trim = options.write_zeroes = there;
        Bench bench(options);
        Association host(bench);
        const auto page = identified<nvme::IdentifyController>(host.admin, nvme::cns::kController);
        EXPECT_EQ(page.oncs, there ? nvme::oncs::kDatasetManagement | nvme::oncs::kWriteZeroes : 0);
        const StatusCode expected = there ? StatusCode::success : StatusCode::invalid_opcode;
        EXPECT_EQ(trim(host.io, 1), expected);
        EXPECT_EQ(write_zeroes(host.io, 1), expected);
    }
}

TEST(TargetNamespace, TrimsAndZeroesAreLimitedAsAnnounced) {
    Options options = Bench::small();
    options.max_trim = 8;
    options.max_write_zeroes = 16384;
    Bench bench(options);
    Association host(bench);
    const auto page = identified<nvme::IdentifyNvmController>(host.admin, nvme::cns::kCommandSetController);
    EXPECT_EQ(page.dmrsl, 8U);
    EXPECT_EQ(page.wzsl, 2);
    EXPECT_EQ(trim(host.io, 8), StatusCode::success);
    EXPECT_EQ(trim(host.io, 9), StatusCode::command_size_limit_exceeded);
    EXPECT_EQ(write_zeroes(host.io, 32), StatusCode::success);
    EXPECT_EQ(write_zeroes(host.io, 33), StatusCode::invalid_field);
}

TEST(TargetNamespace, WritesWithForceUnitAccessAreCounted) {
    Bench bench;
    Association host(bench);
    EXPECT_EQ(write(host.io), StatusCode::success);
    EXPECT_EQ(write(host.io, nvme::kForceUnitAccess), StatusCode::success);
    EXPECT_EQ(bench.listener.counters.writes, 2U);
    EXPECT_EQ(bench.listener.counters.fua_writes, 1U);
}

} // namespace
} // namespace mpath::target
