// SPDX-License-Identifier: GPL-2.0-only
#include "run/foreign_engine.h"

#include <gtest/gtest.h>

namespace mpath::run {
namespace {

TEST(ForeignEngine, IsKnownByItsNameWhateverStandsAround) {
    const struct {
        const char* ioengine;
        EngineKind kind;
    } cases[] = {
        {"libaio", EngineKind::asynchronous},
        {"libaio,userspace_reap", EngineKind::asynchronous},
        {"io_uring", EngineKind::asynchronous},
        {"io_uring_cmd", EngineKind::asynchronous},
        {"psync", EngineKind::synchronous},
        {"pvsync2", EngineKind::synchronous},
        {"spdk", EngineKind::addressed},
        {"/usr/local/spdk/build/fio/spdk_nvme", EngineKind::addressed},
        {"external:/opt/spdk_bdev", EngineKind::addressed},
        {"libiscsi", EngineKind::addressed},
        {"mpath", EngineKind::ours},
        {"external:/usr/lib/fio-mpath.so", EngineKind::ours},
        {"build/fio-mpath.so", EngineKind::ours},
        {"external:", EngineKind::ours}, // of an unset variable
        {"net", EngineKind::none},
        {"cpuio", EngineKind::none},
        {"null", EngineKind::none},
        {"filecreate", EngineKind::none},
        {"mmap", EngineKind::none},
        {"external:/opt/other.so", EngineKind::none},
        {"", EngineKind::none},
    };
    for (const auto& one : cases) {
        EXPECT_EQ(kind_of_engine(one.ioengine), one.kind) << one.ioengine;
    }
}

TEST(ForeignEngine, OptionsOfHowItWorksAreDroppedThoseOfWhatItDoesAreNot) {
    const struct {
        const char* name;
        std::optional<std::string> value;
        Carry carry;
    } cases[] = {
        {"hipri", std::nullopt, Carry::drop},
        {"registerfiles", "1", Carry::drop},
        {"cmdprio_percentage", "10", Carry::drop},
        {"mem_size_mb", "512", Carry::drop},
        {"ioscheduler", "none", Carry::drop},
        {"prio", "3", Carry::drop},
        {"writefua", "1", Carry::refuse},
        {"writefua", "0", Carry::drop},
        {"sg_write_mode", "verify", Carry::refuse},
        {"digest_enable", "BOTH", Carry::refuse},
        {"digest_enable", "NONE", Carry::drop},
        {"direct", "1", Carry::keep},
        {"sync", "1", Carry::keep},
        {"hostnqn", "nqn.2014-08.org.example:h", Carry::keep},
        {"nosuch", "1", Carry::keep}, // fio's to complain about
    };
    for (const auto& one : cases) {
        const Carried carried = carry_option(one.name, one.value);
        EXPECT_EQ(carried.carry, one.carry) << one.name;
        EXPECT_EQ(carried.why.empty(), one.carry == Carry::keep) << one.name;
    }
}

} // namespace
} // namespace mpath::run
