// SPDX-License-Identifier: GPL-2.0-only
#include "job/mounted_device.h"

#include <stdlib.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace mpath::job {
namespace {

namespace fs = std::filesystem;

const DeviceIdentity some_uuid{DeviceIdentity::Kind::uuid, "1b4e28ba-2fa1-11d2-883f-0016d3cca427"};

/// A tree of files that looks like a host to find_local_devices().
class FakeHost {
public:
    FakeHost() {
        std::string name = fs::temp_directory_path() / "mounted_device_test.XXXXXX";
        root_ = mkdtemp(name.data());
    }
    FakeHost(const FakeHost&) = delete;
    FakeHost& operator=(const FakeHost&) = delete;
    ~FakeHost() { fs::remove_all(root_); }

    void file(const fs::path& name, const std::string& content) {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name, std::ios::binary | std::ios::app) << content << '\n';
    }
    /// An NVMe disk of the identity some_uuid with one partition.
    void disk(const std::string& name, const std::string& number) {
        file("sys/block/" + name + "/uuid", some_uuid.value);
        file("sys/block/" + name + "/dev", number + ":0");
        file("sys/block/" + name + "/" + name + "p1/partition", "1");
        file("sys/block/" + name + "/" + name + "p1/dev", number + ":1");
    }

    [[nodiscard]] std::vector<LocalDevice> find(const DeviceIdentity& identity = some_uuid) const {
        return find_local_devices(identity, root_);
    }
    [[nodiscard]] std::string use() const { return describe_use(find()).value_or("unused"); }

private:
    fs::path root_;
};

TEST(LocalDevice, is_not_found_on_a_host_without_it) {
    FakeHost host;
    EXPECT_TRUE(host.find().empty());
    host.file("sys/block/nvme0n1/uuid", "99999999-2fa1-11d2-883f-0016d3cca427");
    EXPECT_TRUE(host.find().empty());
}

TEST(LocalDevice, without_identity_is_never_found) {
    FakeHost host;
    host.file("sys/block/nvme0n1/dev", "259:0");
    EXPECT_TRUE(host.find({}).empty());
}

struct Attribute {
    std::string file;
    std::string content;
    DeviceIdentity identity;
};

TEST(LocalDevice, is_recognised_by_every_attribute_of_its_identity) {
    using Kind = DeviceIdentity::Kind;
    const std::string page =
        std::string("\0\x83\0\x0c\x01\x03\0\x08", 8) + "\x50\x01\x40\x05\x01\x02\x03\x04";
    const Attribute cases[] = {
        {"nvme0n1/uuid", some_uuid.value, some_uuid},
        {"nvme0n1/wwid", "uuid." + some_uuid.value, some_uuid},
        {"nvme0n1/nguid",
         "00112233-4455-6677-8899-AABBCCDDEEFF",
         {Kind::nguid, "00112233445566778899aabbccddeeff"}},
        {"nvme0n1/wwid",
         "eui.00112233445566778899aabbccddeeff",
         {Kind::nguid, "00112233445566778899aabbccddeeff"}},
        {"nvme0n1/eui", "00 25 38 b1 c1 00 00 01", {Kind::eui64, "002538b1c1000001"}},
        {"nvme0n1/wwid", "eui.002538b1c1000001", {Kind::eui64, "002538b1c1000001"}},
        {"sda/device/wwid",
         "naa.6001405aabbccdd00112233445566778",
         {Kind::vpd83, "naa.6001405aabbccdd00112233445566778"}},
        {"sda/device/wwid", "t10.IET     00010001", {Kind::vpd83, "t10.IET     00010001"}},
        {"sda/device/vpd_pg83", page, {Kind::vpd83, "naa.5001400501020304"}},
    };
    for (const Attribute& attribute : cases) {
        FakeHost host;
        host.file("sys/block/" + attribute.file, attribute.content);
        EXPECT_EQ(host.find(attribute.identity).size(), 1U) << attribute.file << " " << attribute.content;
    }
}

TEST(LocalDevice, is_not_recognised_by_an_identity_of_another_kind) {
    FakeHost host;
    host.file("sys/block/nvme0n1/wwid", "eui.002538b1c1000001");
    EXPECT_TRUE(host.find({DeviceIdentity::Kind::uuid, "002538b1c1000001"}).empty());
}

TEST(LocalDevice, is_found_unused) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    ASSERT_EQ(host.find().size(), 1U);
    EXPECT_EQ(host.find()[0].name, "nvme0n1");
    EXPECT_EQ(host.use(), "unused");
}

TEST(LocalDevice, is_in_use_when_mounted) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("proc/self/mountinfo", "36 35 259:0 / /data rw,noatime shared:1 - ext4 /dev/nvme0n1 rw");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1 (nvme0n1 is mounted on /data)");
}

TEST(LocalDevice, is_in_use_when_a_partition_is_mounted) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("proc/self/mountinfo", "36 35 259:1 / /data rw - ext4 /dev/root rw");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1 (nvme0n1p1 is mounted on /data)");
}

TEST(LocalDevice, is_in_use_when_mounted_in_the_mount_namespace_of_process_1) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("proc/self/mountinfo", "1 1 0:20 / / rw - overlay overlay rw");
    host.file("proc/1/mountinfo", "36 35 259:1 / /data rw - ext4 /dev/nvme0n1p1 rw");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1 (nvme0n1p1 is mounted on /data)");
}

TEST(LocalDevice, is_in_use_when_mounted_by_name_under_an_anonymous_device_number) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("proc/self/mountinfo", "36 35 0:45 / /data rw - btrfs /dev/nvme0n1 rw");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1 (nvme0n1 is mounted on /data)");
}

TEST(LocalDevice, is_in_use_as_a_part_of_a_btrfs_that_is_mounted_by_another_name) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("sys/fs/btrfs/0f1e/devices/nvme0n1p1/dev", "259:1");
    EXPECT_EQ(host.use(),
              "this host has the device in use as nvme0n1 (nvme0n1p1 belongs to a mounted btrfs)");
}

TEST(LocalDevice, is_in_use_when_something_is_built_on_it) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("sys/block/nvme0n1/nvme0n1p1/holders/dm-3/dev", "253:3");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1 (nvme0n1p1 is held by dm-3)");
}

TEST(LocalDevice, is_in_use_as_swap) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.file("proc/swaps", "Filename\t\t\t\tType\t\tSize\nName\n/dev/nvme0n1p1    partition\t8\t0\t-2");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1 (nvme0n1p1 is swap)");
}

TEST(LocalDevice, lists_every_use_of_every_block_device_once) {
    FakeHost host;
    host.disk("nvme0n1", "259");
    host.disk("nvme1n1", "260");
    host.file("proc/self/mountinfo", "36 35 259:1 / /a rw - ext4 /dev/nvme0n1p1 rw");
    host.file("proc/1/mountinfo", "36 35 259:1 / /a rw - ext4 /dev/nvme0n1p1 rw");
    host.file("sys/block/nvme1n1/holders/md0/dev", "9:0");
    EXPECT_EQ(host.use(), "this host has the device in use as nvme0n1, nvme1n1 (nvme0n1p1 is mounted on /a, "
                          "nvme1n1 is held by md0)");
}

} // namespace
} // namespace mpath::job
