// SPDX-License-Identifier: GPL-2.0-only
#include "run/device_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<DeviceName> kTwo{{"/dev/sda", "/dev/sda"}, {"/dev/sdb", "/dev/sdb"}};

TEST(Filename, IsSplitAtColonsAsFioDoesIt) {
    EXPECT_THAT(split_filename("/dev/sda"), ElementsAre("/dev/sda"));
    EXPECT_THAT(split_filename("/dev/sda:/dev/sdb"), ElementsAre("/dev/sda", "/dev/sdb"));
    EXPECT_THAT(split_filename("/dev/disk/by-path/ip-192.0.2.1\\:3260"),
                ElementsAre("/dev/disk/by-path/ip-192.0.2.1:3260"));
    EXPECT_THAT(split_filename("/dev/sda:"), ElementsAre("/dev/sda"));
    EXPECT_THAT(split_filename(""), IsEmpty());
}

TEST(Filename, BecomesALabelThatIsNoDeviceHere) {
    EXPECT_EQ(label_of("/dev/sda"), "sda");
    EXPECT_EQ(label_of("/dev/mapper/vol"), "mapper/vol");
    EXPECT_EQ(label_of("trtype=TCP ns=1"), "trtype=TCP ns=1");
    EXPECT_EQ(label_of("iscsi://h/iqn.2000-01.x/1"), "iscsi\\://h/iqn.2000-01.x/1");
}

TEST(Filename, IsADeviceOrIsToldFromAFile) {
    const struct {
        const char* name;
        FileKind kind;
        EngineKind engine;
        bool mapped;
        bool device;
    } cases[] = {
        {"/dev/sda", FileKind::block, EngineKind::asynchronous, false, true},
        {"/dev/nvme9n1", FileKind::absent, EngineKind::asynchronous, false, true}, // another host's
        {"/tmp/link", FileKind::block, EngineKind::asynchronous, false, true},
        {"/dev/sg1", FileKind::character, EngineKind::synchronous, false, true},
        {"/dev/ng0n1", FileKind::character, EngineKind::asynchronous, false, true},
        {"/dev/zero", FileKind::character, EngineKind::asynchronous, false, false},
        {"/dev/shm/x", FileKind::absent, EngineKind::asynchronous, false, false},
        {"/data/file", FileKind::regular, EngineKind::asynchronous, false, false},
        {"/data/file", FileKind::regular, EngineKind::asynchronous, true, false},
        {"/data", FileKind::directory, EngineKind::asynchronous, false, false},
        {"fio.dat", FileKind::absent, EngineKind::asynchronous, false, false},
        {"vol", FileKind::absent, EngineKind::asynchronous, true, true},
        {"trtype=TCP ns=1", FileKind::absent, EngineKind::addressed, false, true},
    };
    for (const auto& one : cases) {
        const char* why =
            why_no_device(one.name, one.engine, one.mapped, [&](const std::string&) { return one.kind; });
        EXPECT_EQ(why == nullptr, one.device) << one.name;
    }
}

TEST(DeviceMap, MapsEachNameToItsPaths) {
    const std::vector<std::string> maps{"/dev/sda=a=nvme+tcp://h/nqn.x/1,b=nvme+tcp://i/nqn.x/1",
                                        "/dev/sdb=nvme+tcp://h/nqn.x/2"};
    const auto map = DeviceMap::create(std::nullopt, maps, kTwo);
    ASSERT_TRUE(map) << map.error().text;
    EXPECT_EQ(*map->mapped("/dev/sda"), "a=nvme+tcp://h/nqn.x/1,b=nvme+tcp://i/nqn.x/1");
    EXPECT_EQ(*map->mapped("/dev/sdb"), "nvme+tcp://h/nqn.x/2");
}

TEST(DeviceMap, TakesANameAsInTheFileOrExpanded) {
    const std::vector<DeviceName> devices{{"${DEV}", "/dev/sda"}, {"trtype=TCP ns=1", "trtype=TCP ns=1"}};
    const std::vector<std::string> maps{"${DEV}=P", "trtype=TCP ns=1=Q"};
    const auto map = DeviceMap::create(std::nullopt, maps, devices);
    ASSERT_TRUE(map) << map.error().text;
    EXPECT_EQ(*map->mapped("/dev/sda"), "P");
    EXPECT_EQ(*map->mapped("trtype=TCP ns=1"), "Q");
}

TEST(DeviceMap, LeavesOneDeviceToPaths) {
    const std::vector<std::string> maps{"/dev/sdb=Q"};
    const auto map = DeviceMap::create("P", maps, kTwo);
    ASSERT_TRUE(map) << map.error().text;
    EXPECT_EQ(map->mapped("/dev/sda"), nullptr);
}

TEST(DeviceMap, NeverGuessesWhichDeviceIsMeant) {
    const struct {
        std::optional<std::string> paths;
        std::vector<std::string> maps;
        const char* text;
    } cases[] = {
        {"P", {}, "works on several devices (/dev/sda, /dev/sdb), and --paths leads to one"},
        {std::nullopt,
         {},
         "no paths for /dev/sda, /dev/sdb; give them with --paths, or --map /dev/sda=PATHS"},
        {std::nullopt, {"/dev/sda=P"}, "no paths for /dev/sdb"},
        {"P",
         {"/dev/sdc=Q"},
         "--map /dev/sdc=Q is about no filename= of the job file; it has /dev/sda, /dev/sdb"},
        {"P", {"/dev/sda=P", "/dev/sda=Q"}, "there are two for /dev/sda"},
    };
    for (const auto& one : cases) {
        const auto map = DeviceMap::create(one.paths, one.maps, kTwo);
        ASSERT_FALSE(map) << one.text;
        EXPECT_THAT(map.error().text, HasSubstr(one.text));
    }
}

} // namespace
} // namespace mpath::run
