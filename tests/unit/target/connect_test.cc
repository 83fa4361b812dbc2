// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "peer.h"
#include "target/connect.h"

namespace mpath::target {
namespace {

using nvme::ConnectCommand;
using nvme::ConnectData;
using nvme::StatusCode;

constexpr std::uint32_t kInData = nvme::kConnectInvalidInData;

/// A bench with one association that is ready for I/O queues.
struct Prepared : Bench {
    explicit Prepared(Options options = small()) : Bench(std::move(options)) {
        controller =
            connect(*subsystem, listener, connect_command(0, 31), connect_data(0xffff), now).controller;
        controller->set_property(nvme::property::kCc, nvme::PropertySize::bytes4, kEnableController);
    }
    ConnectOutcome join(const ConnectCommand& command, const ConnectData& data) {
        return connect(*subsystem, listener, command, data, now);
    }
    std::shared_ptr<Controller> controller;
};

TEST(TargetConnect, AnAdminQueueGetsAControllerOfItsOwn) {
    Bench bench;
    const auto first =
        connect(*bench.subsystem, bench.listener, connect_command(0, 31), connect_data(0xffff), 0);
    const auto second =
        connect(*bench.subsystem, bench.listener, connect_command(0, 31), connect_data(0xffff), 0);
    ASSERT_TRUE(first.controller);
    ASSERT_TRUE(second.controller);
    EXPECT_EQ(first.dw0, first.controller->id());
    EXPECT_NE(first.controller->id(), second.controller->id());
    EXPECT_EQ(bench.listener.counters.associations, 2U);
}

TEST(TargetConnect, AnIoQueueJoinsItsController) {
    Prepared bench;
    const auto joined = bench.join(connect_command(1, 127), connect_data(bench.controller->id()));
    EXPECT_EQ(joined.controller, bench.controller);
}

TEST(TargetConnect, PointsAtTheParameterThatIsWrong) {
    struct {
        const char* what;
        void (*change)(ConnectCommand&, ConnectData&);
        StatusCode status;
        std::uint32_t where;
    } const table[] = {
        {"record format", [](auto& c, auto&) { c.recfmt = 1; }, StatusCode::connect_incompatible_format, 0},
        {"no queue", [](auto& c, auto&) { c.sqsize = 0; }, StatusCode::connect_invalid_parameters, 44},
        {"large queue", [](auto& c, auto&) { c.sqsize = 1024; }, StatusCode::connect_invalid_parameters, 44},
        {"queue id", [](auto& c, auto&) { c.qid = 129; }, StatusCode::connect_invalid_parameters, 42},
        {"other NQN", [](auto&, auto& d) { d.subnqn[5] = 'x'; }, StatusCode::connect_invalid_parameters,
         kInData | 256},
        {"endless NQN", [](auto&, auto& d) { d.subnqn.fill('n'); }, StatusCode::connect_invalid_parameters,
         kInData | 256},
        {"no host NQN", [](auto&, auto& d) { d.hostnqn.fill(0); }, StatusCode::connect_invalid_parameters,
         kInData | 512},
        {"other host NQN", [](auto&, auto& d) { d.hostnqn[5] = 'x'; }, StatusCode::connect_invalid_parameters,
         kInData | 512},
        {"other host ID", [](auto&, auto& d) { d.hostid[0] = 1; }, StatusCode::connect_invalid_parameters,
         kInData | 0},
        {"other controller", [](auto&, auto& d) { d.cntlid = 99; }, StatusCode::connect_invalid_parameters,
         kInData | 16},
        {"admin queue, static controller", [](auto& c, auto&) { c.qid = 0; },
         StatusCode::connect_invalid_parameters, kInData | 16},
    };
    for (const auto& row : table) {
        Prepared bench;
        auto command = connect_command(1, 127);
        auto data = connect_data(bench.controller->id());
        row.change(command, data);
        const auto outcome = bench.join(command, data);
        EXPECT_FALSE(outcome.controller) << row.what;
        EXPECT_EQ(outcome.status.code(), row.status) << row.what;
        EXPECT_TRUE(outcome.status.dnr()) << row.what;
        EXPECT_EQ(outcome.dw0, row.where) << row.what;
    }
}

TEST(TargetConnect, AQueueIdIsTakenOnce) {
    Prepared bench;
    const auto data = connect_data(bench.controller->id());
    EXPECT_TRUE(bench.join(connect_command(1, 31), data).controller);
    EXPECT_EQ(bench.join(connect_command(1, 31), data).status.code(), StatusCode::command_sequence_error);
    bench.controller->release_queue(1);
    EXPECT_TRUE(bench.join(connect_command(1, 31), data).controller);
}

TEST(TargetConnect, NoIoQueueBeforeTheControllerIsReady) {
    Prepared bench;
    bench.controller->set_property(nvme::property::kCc, nvme::PropertySize::bytes4, 0);
    EXPECT_EQ(bench.join(connect_command(1, 31), connect_data(bench.controller->id())).status.code(),
              StatusCode::command_sequence_error);
}

TEST(TargetConnect, AnIoQueueComesThroughItsAssociationsListener) {
    Prepared bench;
    Listener other;
    const auto outcome = connect(*bench.subsystem, other, connect_command(1, 31),
                                 connect_data(bench.controller->id()), bench.now);
    EXPECT_EQ(outcome.dw0, kInData | 16);
}

TEST(TargetConnect, IsBusyWhenAllControllersAreTaken) {
    Options options = Bench::small();
    options.controllers = 1;
    Prepared bench(options);
    const auto second = bench.join(connect_command(0, 31), connect_data(0xffff));
    EXPECT_EQ(second.status, nvme::Status(StatusCode::connect_busy));
    bench.controller->end();
    EXPECT_TRUE(bench.join(connect_command(0, 31), connect_data(0xffff)).controller);
}

TEST(TargetConnect, SaysThatAuthenticationIsRequired) {
    Options options = Bench::small();
    options.demand_auth = true;
    Bench bench(options);
    Peer peer(bench);
    peer.ic_req();
    const auto cqe = peer.connect(0, 0xffff);
    EXPECT_EQ(status_of(cqe), StatusCode::success);
    EXPECT_NE(cqe.dw0 & nvme::kConnectAuthRequired, 0U);
    EXPECT_EQ(status_of(peer.set_cc(kEnableController)), StatusCode::authentication_required);
}

} // namespace
} // namespace mpath::target
