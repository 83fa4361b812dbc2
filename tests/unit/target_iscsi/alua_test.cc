// SPDX-License-Identifier: GPL-2.0-only
// Asymmetric access: a target port group for each portal.
#include <gtest/gtest.h>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;
using iscsi::AluaState;

Ended port_groups(Initiator& initiator, bool extended = false) {
    const auto action = static_cast<std::uint8_t>(0x0a | (extended ? iscsi::kExtendedHeader : 0));
    return initiator.run(cdb({op::kMaintenanceIn, action, 0, 0, 0, 0, 0, 0, 1, 0}), 256);
}

AluaState state_of(Initiator& initiator, std::size_t portal) {
    const Ended ended = port_groups(initiator);
    EXPECT_TRUE(ended.good()) << ended.sense();
    return static_cast<AluaState>(read_at<iscsi::PortGroup>(ended.data, 4 + 12 * portal).state & 0x0f);
}

TEST(TargetIscsiAlua, HasAGroupForEachPortal) {
    Bench bench;
    bench.play("on b ana non-optimized no-event");
    Initiator initiator(bench);
    initiator.log_in();
    const Ended plain = port_groups(initiator);
    ASSERT_EQ(plain.data.size(), 4U + 2 * 12);
    EXPECT_EQ(read_at<Be32>(plain.data, 0), 24U);
    for (std::uint16_t i = 0; i < 2; ++i) {
        const auto group = read_at<iscsi::PortGroup>(plain.data, 4U + 12U * i);
        EXPECT_EQ(group.state & 0x0f, i);
        EXPECT_EQ(group.id, i + 1);
        EXPECT_EQ(group.ports, 1);
        EXPECT_EQ(read_at<iscsi::PortDescriptor>(plain.data, 12U + 12U * i).relative_port, i + 1);
    }
    const Ended extended = port_groups(initiator, true);
    ASSERT_EQ(extended.data.size(), 8U + 2 * 12);
    const auto header = read_at<iscsi::ExtendedPortGroupsHeader>(extended.data, 0);
    EXPECT_EQ(header.length, 28U);
    EXPECT_EQ(header.format, 0x10);
    EXPECT_EQ(header.transition_time, 10);
    EXPECT_EQ(initiator.run(cdb({op::kMaintenanceIn, 0x4a, 0, 0, 0, 0, 0, 0, 1, 0}), 256).sense(), "5/24/00");
}

TEST(TargetIscsiAlua, KnowsAllStatesByBothProtocolsWords) {
    const std::pair<const char*, AluaState> rows[] = {
        {"optimized", AluaState::active_optimized},
        {"non-optimized", AluaState::active_non_optimized},
        {"standby", AluaState::standby},
        {"unavailable", AluaState::unavailable},
        {"inaccessible", AluaState::unavailable},
        {"offline", AluaState::offline},
        {"persistent-loss", AluaState::offline},
        {"transitioning", AluaState::transitioning},
        {"change", AluaState::transitioning},
    };
    for (const auto& [word, state] : rows) {
        Bench bench;
        bench.play(std::string("on b ana ") + word);
        Initiator initiator(bench);
        initiator.log_in();
        EXPECT_EQ(state_of(initiator, 1), state) << word;
        EXPECT_EQ(state_of(initiator, 0), AluaState::active_optimized);
    }
}

TEST(TargetIscsiAlua, RefusesIoInStatesThatAreNotActive) {
    struct Row {
        const char* state;
        const char* sense; ///< "": it is carried out
        bool mode_sense;
    };
    constexpr Row kRows[] = {
        {"optimized", "", true},           {"non-optimized", "", true},   {"standby", "2/04/0b", true},
        {"unavailable", "2/04/0c", false}, {"offline", "2/04/12", false}, {"transitioning", "2/04/0a", false},
    };
    for (const Row& row : kRows) {
        Bench bench;
        bench.play(std::string("on a ana ") + row.state);
        Initiator initiator(bench);
        initiator.log_in();
        for (const Ended& ended :
             {initiator.run(blocks_cdb(op::kRead16, 0, 1), 512),
              initiator.write(blocks_cdb(op::kWrite16, 0, 1), pattern(512)),
              initiator.run(cdb({op::kTestUnitReady})), initiator.run(cdb({op::kReadCapacity10}), 8)}) {
            EXPECT_EQ(ended.good() ? "" : ended.sense(), row.sense) << row.state;
        }
        EXPECT_TRUE(initiator.run(cdb({op::kInquiry, 1, 0x83, 1, 0}), 256).good());
        EXPECT_TRUE(initiator.run(cdb({op::kReportLuns, 0, 0, 0, 0, 0, 0, 0, 1, 0}), 256).good());
        EXPECT_TRUE(port_groups(initiator).good());
        EXPECT_EQ(initiator.run(cdb({op::kModeSense6, 0, 0x3f, 0, 255}), 255).good(), row.mode_sense)
            << row.state;
    }
}

TEST(TargetIscsiAlua, ChangesRaiseAnAttentionOnEverySession) {
    Bench bench;
    Initiator here(bench);
    Initiator there(bench, bench.b);
    here.log_in();
    there.log_in();
    bench.play("on a ana standby");
    EXPECT_EQ(here.run(blocks_cdb(op::kRead16, 0, 1), 512).sense(), "6/2a/06");
    EXPECT_EQ(there.run(blocks_cdb(op::kRead16, 0, 1), 512).sense(), "6/2a/06");
    EXPECT_EQ(here.run(blocks_cdb(op::kRead16, 0, 1), 512).sense(), "2/04/0b");
    EXPECT_TRUE(there.run(blocks_cdb(op::kRead16, 0, 1), 512).good());
    bench.play("on a ana standby");
    EXPECT_TRUE(there.run(blocks_cdb(op::kRead16, 0, 1), 512).good()) << "nothing has changed";
    bench.play("for 1s on a ana optimized no-event");
    EXPECT_TRUE(here.run(blocks_cdb(op::kRead16, 0, 1), 512).good()) << "nobody is told";
}

TEST(TargetIscsiAlua, StatesMayBeOfSomeUnitsOnly) {
    Options options = Bench::small();
    options.namespaces = 2;
    Bench bench(options);
    bench.play("on a group 2 ana unavailable");
    Initiator initiator(bench);
    initiator.log_in();
    EXPECT_EQ(state_of(initiator, 0), AluaState::active_optimized);
    initiator.lun = {0, 1};
    EXPECT_EQ(state_of(initiator, 0), AluaState::unavailable);
    EXPECT_EQ(initiator.run(blocks_cdb(op::kRead16, 0, 1), 512).sense(), "2/04/0c");
}

} // namespace
} // namespace mpath::target::scsi
