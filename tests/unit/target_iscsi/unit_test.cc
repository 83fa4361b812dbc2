// SPDX-License-Identifier: GPL-2.0-only
// What a logical unit says of itself, and what it does to blocks beside reading and writing them.
#include <gtest/gtest.h>

#include <bit>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;
namespace flag = iscsi::command_flag;
namespace page = iscsi::vpd_page;

struct Disk : Bench {
    explicit Disk(Options options = small()) : Bench(std::move(options)), initiator(*this) {
        initiator.log_in();
    }

    Bytes vpd(std::uint8_t number) {
        const Ended ended = initiator.run(cdb({op::kInquiry, 1, number, 1, 0}), 256);
        EXPECT_TRUE(ended.good()) << ended.sense();
        EXPECT_EQ(read_at<iscsi::VpdHeader>(ended.data, 0).page, number);
        EXPECT_EQ(read_at<iscsi::VpdHeader>(ended.data, 0).length, ended.data.size() - 4);
        return ended.data;
    }
    Ended capacity() {
        return initiator.run(cdb({op::kServiceActionIn16, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32}), 32);
    }
    Ended unmap(std::uint64_t lba, std::uint32_t blocks) {
        iscsi::UnmapHeader header;
        header.length = 22;
        header.descriptors_length = 16;
        iscsi::UnmapDescriptor range;
        range.lba = lba;
        range.blocks = blocks;
        Bytes list(24);
        std::memcpy(list.data(), &header, sizeof(header));
        std::memcpy(list.data() + sizeof(header), &range, sizeof(range));
        return initiator.write(cdb({op::kUnmap, 0, 0, 0, 0, 0, 0, 0, 24}), list);
    }
    Bytes blocks(std::uint64_t lba, std::uint32_t count) {
        return initiator.run(blocks_cdb(op::kRead16, lba, count), count * 512).data;
    }

    Initiator initiator;
};

TEST(TargetIscsiUnit, IsADisk) {
    Disk disk;
    EXPECT_TRUE(disk.initiator.run(cdb({op::kTestUnitReady})).good());
    const Ended ended = disk.initiator.run(cdb({op::kInquiry, 0, 0, 0, 96}), 96);
    const auto data = read_at<iscsi::InquiryData>(ended.data, 0);
    EXPECT_EQ(ended.data.size(), 96U);
    EXPECT_EQ(data.peripheral, 0);
    EXPECT_EQ(data.format & 0x0f, 2);
    EXPECT_EQ(data.flags5, iscsi::kImplicitAlua);
    EXPECT_EQ(std::string(data.product.data(), 16), "fio-mpath target");
    EXPECT_EQ(disk.initiator.run(cdb({op::kInquiry, 0, 0, 0, 36}), 255).data.size(), 36U);
}

TEST(TargetIscsiUnit, SaysWhichPagesItHas) {
    Disk disk;
    const Bytes pages = disk.vpd(page::kSupported);
    for (std::size_t at = 4; at < pages.size(); ++at) {
        EXPECT_FALSE(disk.vpd(static_cast<std::uint8_t>(pages[at])).empty());
    }
    EXPECT_EQ(pages.size(), 4U + 6);
    EXPECT_EQ(disk.initiator.run(cdb({op::kInquiry, 1, 0xc0, 0, 255}), 255).sense(), "5/24/00");
    EXPECT_EQ(disk.initiator.run(cdb({op::kInquiry, 0, 0x83, 0, 255}), 255).sense(), "5/24/00");
}

TEST(TargetIscsiUnit, IsIdentifiedTheSameThroughEveryPortal) {
    Disk disk;
    Initiator other(disk, disk.b);
    other.log_in();
    const Bytes here = disk.vpd(page::kIdentification);
    const Bytes there = other.run(cdb({op::kInquiry, 1, page::kIdentification, 1, 0}), 256).data;
    const auto designators = [](const Bytes& bytes) {
        std::vector<std::pair<std::uint8_t, Bytes>> found;
        for (std::size_t at = 4; at < bytes.size();) {
            const auto header = read_at<iscsi::DesignatorHeader>(bytes, at);
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + 4);
            found.emplace_back(header.association_and_type & 0x3f, Bytes(begin, begin + header.length));
            at += 4U + header.length;
        }
        return found;
    };
    const auto a = designators(here);
    const auto b = designators(there);
    ASSERT_EQ(a.size(), 5U);
    ASSERT_EQ(b.size(), 5U);
    EXPECT_EQ(a[0].first, iscsi::designator_type::kNaa);
    EXPECT_EQ(a[0].second.size(), 16U);
    EXPECT_EQ(a[0].second[0] >> 4, std::byte{6});
    EXPECT_EQ(a[1].first, iscsi::designator_type::kEui64);
    EXPECT_EQ(a[2].first, iscsi::designator_type::kT10);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(a[i], b[i]);
    }
    EXPECT_EQ(a[3].first, 0x10 | iscsi::designator_type::kRelativePort);
    EXPECT_EQ(a[4].first, 0x10 | iscsi::designator_type::kTargetPortGroup);
    EXPECT_EQ(a[4].second[3], std::byte{1});
    EXPECT_EQ(b[3].second[3], std::byte{2});
    EXPECT_EQ(b[4].second[3], std::byte{2});
}

TEST(TargetIscsiUnit, LeavesOutIdentitiesItIsToldTo) {
    Options options = Bench::small();
    options.announce_nguid = options.announce_uuid = false;
    options.ana_reporting = false;
    Disk disk(options);
    const Bytes identification = disk.vpd(page::kIdentification);
    EXPECT_EQ(read_at<iscsi::DesignatorHeader>(identification, 4).association_and_type,
              iscsi::designator_type::kEui64);
    EXPECT_EQ(identification.size(), 4U + 12 + 8);
    EXPECT_EQ(disk.initiator.run(cdb({op::kMaintenanceIn, 0x0a, 0, 0, 0, 0, 0, 0, 0, 255}), 255).sense(),
              "5/20/00");
}

TEST(TargetIscsiUnit, SaysItsSize) {
    Disk disk;
    const Ended wide = disk.capacity();
    const auto data = read_at<iscsi::CapacityData>(wide.data, 0);
    EXPECT_EQ(data.last_lba, (4U << 20) / 512 - 1);
    EXPECT_EQ(data.block_length, 512U);
    EXPECT_EQ(data.alignment, 0xc000) << "thin, and zeroes where nothing was written";
    const Bytes narrow = disk.initiator.run(cdb({op::kReadCapacity10}), 8).data;
    EXPECT_EQ(read_at<Be32>(narrow, 0), (4U << 20) / 512 - 1);
    EXPECT_EQ(read_at<Be32>(narrow, 4), 512U);
}

TEST(TargetIscsiUnit, SaysItsLimits) {
    Options options = Bench::small();
    options.mdts = 65536;
    options.max_trim = 100;
    options.max_write_zeroes = 8192;
    options.optimal_write = 16;
    Disk disk(options);
    const auto limits = read_at<iscsi::BlockLimits>(disk.vpd(page::kBlockLimits), 0);
    EXPECT_EQ(limits.max_transfer, 128U);
    EXPECT_EQ(limits.max_unmap_blocks, 100U);
    EXPECT_EQ(limits.max_write_same, 16U);
    EXPECT_EQ(limits.optimal_transfer, 16U);
    EXPECT_EQ(disk.initiator.run(blocks_cdb(op::kRead16, 0, 129), 129 * 512).sense(), "5/24/00");
    EXPECT_EQ(disk.unmap(0, 101).sense(), "5/26/00");
    EXPECT_TRUE(disk.unmap(0, 100).good());
}

TEST(TargetIscsiUnit, CanBeWithoutTrimAndWriteSame) {
    Options options = Bench::small();
    options.trim = options.write_zeroes = false;
    Disk disk(options);
    EXPECT_EQ(read_at<iscsi::BlockLimits>(disk.vpd(page::kBlockLimits), 0).max_unmap_blocks, 0U);
    EXPECT_EQ(read_at<iscsi::Provisioning>(disk.vpd(page::kProvisioning), 0).flags5, 0);
    EXPECT_EQ(read_at<iscsi::CapacityData>(disk.capacity().data, 0).alignment, 0);
    EXPECT_EQ(disk.unmap(0, 1).sense(), "5/20/00");
    EXPECT_EQ(disk.initiator.run(blocks_cdb(op::kWriteSame16, 0, 1, 1)).sense(), "5/20/00");
}

TEST(TargetIscsiUnit, TrimsAndZeroes) {
    Disk disk;
    const Bytes data = pattern(8 * 512);
    ASSERT_TRUE(disk.initiator.write(blocks_cdb(op::kWrite16, 0, 8), data).good());
    EXPECT_TRUE(disk.unmap(1, 2).good());
    EXPECT_EQ(disk.blocks(1, 2), Bytes(1024));
    EXPECT_TRUE(disk.initiator.run(blocks_cdb(op::kWriteSame16, 4, 1, iscsi::cdb_flag::kNoDataOut)).good());
    EXPECT_EQ(disk.blocks(4, 1), Bytes(512));
    EXPECT_TRUE(disk.initiator.write(blocks_cdb(op::kWriteSame16, 6, 2), std::span(data).first(512)).good());
    EXPECT_EQ(disk.blocks(6, 1), disk.blocks(7, 1));
    EXPECT_EQ(disk.blocks(6, 1), disk.blocks(0, 1));
    EXPECT_EQ(disk.initiator.run(blocks_cdb(op::kWriteSame16, 0, 0, 1)).sense(), "5/24/00") << "WSNZ";
    EXPECT_EQ(disk.a.counters.deallocates, 1U);
    EXPECT_EQ(disk.a.counters.write_zeroes, 2U);
    EXPECT_TRUE(disk.initiator.write(cdb({op::kUnmap}), {}).good());
    EXPECT_EQ(disk.initiator.write(cdb({op::kUnmap, 0, 0, 0, 0, 0, 0, 0, 4}), pattern(4)).sense(), "5/1a/00");
}

TEST(TargetIscsiUnit, VerifiesAndFlushes) {
    Disk disk;
    const Bytes data = pattern(2 * 512);
    ASSERT_TRUE(disk.initiator.write(blocks_cdb(op::kWrite16, 0, 2), data).good());
    EXPECT_TRUE(disk.initiator.run(blocks_cdb(op::kVerify16, 0, 2)).good());
    EXPECT_TRUE(disk.initiator.write(blocks_cdb(op::kVerify16, 0, 2, 2), data).good());
    EXPECT_EQ(disk.initiator.write(blocks_cdb(op::kVerify16, 0, 2, 2), pattern(1024, 9)).sense(), "e/1d/00");
    EXPECT_TRUE(disk.initiator.run(blocks_cdb(op::kSynchronizeCache16, 0, 0)).good());
    EXPECT_TRUE(disk.initiator.run(cdb({op::kSynchronizeCache10})).good());
    EXPECT_EQ(disk.a.counters.flushes, 2U);
}

TEST(TargetIscsiUnit, RefusesWhatIsBehindItsEnd) {
    Disk disk;
    const std::uint64_t blocks = (4U << 20) / 512;
    EXPECT_TRUE(disk.initiator.run(blocks_cdb(op::kRead16, blocks - 1, 1), 512).good());
    for (const std::uint64_t lba : {blocks, blocks + 1, ~std::uint64_t{0}}) {
        EXPECT_EQ(disk.initiator.run(blocks_cdb(op::kRead16, lba, 1), 512).sense(), "5/21/00");
        EXPECT_EQ(disk.initiator.write(blocks_cdb(op::kWrite16, lba, 1), pattern(512)).sense(), "5/21/00");
    }
    EXPECT_EQ(disk.unmap(blocks, 1).sense(), "5/21/00");
}

TEST(TargetIscsiUnit, CanBeWriteProtected) {
    Options options = Bench::small();
    options.read_only = true;
    Disk disk(options);
    EXPECT_EQ(disk.initiator.write(blocks_cdb(op::kWrite16, 0, 1), pattern(512)).sense(), "7/27/00");
    EXPECT_EQ(disk.unmap(0, 1).sense(), "7/27/00");
    const Bytes sense = disk.initiator.run(cdb({op::kModeSense6, 8, 0x3f, 0, 255}), 255).data;
    EXPECT_EQ(sense[2] & std::byte{0x80}, std::byte{0x80});
}

TEST(TargetIscsiUnit, HasACachingPage) {
    Disk disk;
    const Bytes narrow = disk.initiator.run(cdb({op::kModeSense6, 8, 0x08, 0, 255}), 255).data;
    ASSERT_EQ(narrow.size(), 4U + 20);
    EXPECT_EQ(narrow[0], std::byte{23});
    EXPECT_EQ(narrow[2], std::byte{0x10}) << "FUA is known, writing allowed";
    EXPECT_EQ(narrow[4], std::byte{0x08});
    EXPECT_EQ(narrow[6] & std::byte{0x04}, std::byte{0x04}) << "WCE";
    const Bytes wide = disk.initiator.run(cdb({op::kModeSense10, 0, 0x3f, 0, 0, 0, 0, 0, 255}), 255).data;
    ASSERT_EQ(wide.size(), 8U + 8 + 20 + 12);
    EXPECT_EQ(read_at<Be16>(wide, 0), wide.size() - 2);
    EXPECT_EQ(read_at<Be16>(wide, 6), 8U);
    EXPECT_EQ(disk.initiator.run(cdb({op::kModeSense6, 0, 0x1c, 0, 255}), 255).sense(), "5/24/00");
}

TEST(TargetIscsiUnit, IsOneOfThoseReported) {
    Options options = Bench::small();
    options.namespaces = 3;
    Disk disk(options);
    const Bytes list = disk.initiator.run(cdb({op::kReportLuns, 0, 0, 0, 0, 0, 0, 0, 1, 0}), 256).data;
    ASSERT_EQ(list.size(), 8U + 3 * 8);
    EXPECT_EQ(read_at<Be32>(list, 0), 24U);
    EXPECT_EQ(read_at<iscsi::Lun>(list, 24), (iscsi::Lun{0, 2}));
    disk.initiator.lun = {0, 2};
    EXPECT_TRUE(disk.initiator.run(cdb({op::kTestUnitReady})).good());
}

TEST(TargetIscsiUnit, ThatIsNotThereSaysSo) {
    Disk disk;
    disk.initiator.lun = {0, 1};
    EXPECT_EQ(disk.initiator.run(cdb({op::kTestUnitReady})).sense(), "5/25/00");
    EXPECT_EQ(disk.initiator.run(blocks_cdb(op::kRead16, 0, 1), 512).sense(), "5/25/00");
    EXPECT_EQ(disk.initiator.run(cdb({op::kInquiry, 0, 0, 0, 36}), 36).data[0], std::byte{0x7f});
    EXPECT_TRUE(disk.initiator.run(cdb({op::kReportLuns, 0, 0, 0, 0, 0, 0, 0, 1, 0}), 256).good());
    const Bytes sense = disk.initiator.run(cdb({op::kRequestSense, 0, 0, 0, 18}), 18).data;
    EXPECT_EQ(read_at<iscsi::FixedSense>(sense, 0).asc, 0x25);
}

TEST(TargetIscsiUnit, RefusesCommandsItDoesNotHave) {
    Disk disk;
    EXPECT_EQ(disk.initiator.run(cdb({0xc5})).sense(), "5/20/00");
    EXPECT_EQ(disk.initiator.run(cdb({op::kMaintenanceIn, 0x1f}), 255).sense(), "5/20/00");
    EXPECT_EQ(disk.initiator.run(cdb({op::kMaintenanceOut, 0x0a})).sense(), "5/20/00")
        << "ALUA states change implicitly";
    EXPECT_EQ(disk.a.counters.refused, 3U);
}

TEST(TargetIscsiUnit, SaysWhichCommandsItHas) {
    Disk disk;
    const Bytes list = disk.initiator.run(cdb({op::kMaintenanceIn, 0x0c, 0, 0, 0, 0, 0, 0, 2, 0}), 512).data;
    EXPECT_EQ(read_at<Be32>(list, 0), list.size() - 4);
    EXPECT_EQ((list.size() - 4) % 8, 0U);
    for (std::size_t at = 4; at < list.size(); at += 8) {
        const auto opcode = static_cast<std::uint8_t>(list[at]);
        const bool has_action = (list[at + 5] & std::byte{1}) != std::byte{0};
        const Bytes one =
            disk.initiator
                .run(cdb({op::kMaintenanceIn, 0x0c, static_cast<std::uint8_t>(has_action ? 2 : 1), opcode,
                          static_cast<std::uint8_t>(list[at + 2]), static_cast<std::uint8_t>(list[at + 3]), 0,
                          0, 0, 64}),
                     64)
                .data;
        ASSERT_GT(one.size(), 4U);
        EXPECT_EQ(one[1], std::byte{3});
        EXPECT_EQ(static_cast<std::uint8_t>(one[4]), opcode);
    }
    const Bytes none =
        disk.initiator.run(cdb({op::kMaintenanceIn, 0x0c, 1, 0xc5, 0, 0, 0, 0, 0, 64}), 64).data;
    EXPECT_EQ(none[1], std::byte{1});
}

TEST(TargetIscsiUnit, TellsASessionThatItWasSwitchedOn) {
    Options options = Bench::small();
    options.iscsi.power_on_attention = true;
    Disk disk(options);
    EXPECT_TRUE(disk.initiator.run(cdb({op::kInquiry, 0, 0, 0, 36}), 36).good()) << "which never tells";
    EXPECT_EQ(disk.initiator.run(cdb({op::kTestUnitReady})).sense(), "6/29/00");
    EXPECT_TRUE(disk.initiator.run(cdb({op::kTestUnitReady})).good());
    EXPECT_EQ(disk.a.counters.unit_attentions, 1U);
    EXPECT_EQ(disk.a.counters.refused, 0U);
}

TEST(TargetIscsiUnit, GivesAttentionsAwayAsSenseData) {
    Options options = Bench::small();
    options.iscsi.power_on_attention = true;
    Disk disk(options);
    const Bytes sense = disk.initiator.run(cdb({op::kRequestSense, 0, 0, 0, 252}), 252).data;
    EXPECT_EQ(read_at<iscsi::FixedSense>(sense, 0).asc, 0x29);
    EXPECT_TRUE(disk.initiator.run(cdb({op::kTestUnitReady})).good());
}

TEST(TargetIscsiUnit, CanNotWriteWhatIsToldToBeRead) {
    Disk disk;
    const auto tag = disk.initiator.command(blocks_cdb(op::kWrite16, 0, 1), 512, flag::kRead);
    EXPECT_EQ(disk.initiator.end_of(tag).sense(), "5/24/00");
}

} // namespace
} // namespace mpath::target::scsi
