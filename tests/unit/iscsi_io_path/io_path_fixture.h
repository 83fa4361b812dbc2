// SPDX-License-Identifier: GPL-2.0-only
// A path with one scripted target at the end of each of its sessions.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iscsi/io_path.h"
#include "net/reactor.h"
#include "tests/unit/iscsi_session/scripted_target.h"
#include "tests/unit/path/path_fixture.h"

namespace mpath::iscsi::test {

struct PathShape {
    std::size_t sessions = 1;
    std::uint16_t queue_size = 128;
    std::uint32_t block_size = 512;
    std::uint32_t max_transfer = 8192;
    std::uint64_t max_trim = 0;
    std::uint64_t max_write_zeroes = 0;
    ScsiFeatures features{};
    WriteOptions writes{};
    SessionParameters parameters{};
    std::uint32_t window = 4096; ///< commands that a target takes
};

class IoPathTest : public mpath::test::PathFixture<IoPath, ScriptedTarget> {
protected:
    static constexpr std::uint64_t kUnit = 0x0102; ///< LUN in flat space
    static constexpr Lun kUnitOnTheWire{0x41, 0x02};

    void open(const PathShape& shape = {}) {
        ASSERT_NO_FATAL_FAILURE(make_reactor());
        limits_.size = std::uint64_t{1} << 40;
        limits_.block_size = shape.block_size;
        limits_.max_transfer = shape.max_transfer;
        limits_.max_trim = shape.max_trim;
        limits_.max_write_zeroes = shape.max_write_zeroes;
        path_ = std::make_unique<IoPath>(kIndex, kUnit, limits_, shape.writes, *reactor_, completions_,
                                         static_cast<PathListener&>(*this));
        attach(shape, limits_);
    }

    void attach(const PathShape& shape, const DeviceLimits& limits) {
        targets_.clear();
        std::vector<LoggedIn> sessions;
        for (std::size_t i = 0; i < shape.sessions; ++i) {
            auto pair = net::test::make_socket_pair();
            LoggedIn session;
            session.socket = std::move(pair.ours);
            session.parameters = shape.parameters;
            session.numbers = {.cmd_sn = 5, .exp_stat_sn = 9, .max_cmd_sn = 5 + shape.window - 1};
            targets_.push_back(
                std::make_unique<ScriptedTarget>(std::move(pair.theirs), shape.parameters, session.numbers));
            sessions.push_back(std::move(session));
        }
        SessionFacts facts;
        facts.limits = limits;
        facts.features = shape.features;
        facts.queue_size = shape.queue_size;
        ConnectedPath connected(std::move(facts), std::move(sessions));
        EXPECT_EQ(connected.sockets().size(), shape.sessions);
        path_->attach(connected);
    }

    Pdu receive_pdu(std::size_t session = 0) { return receive_from(session).value_or(Pdu{}); }
    /// The next command, which has to be one to our unit.
    ScsiCommand receive_command(std::size_t session = 0) {
        const auto command = receive_pdu(session).as<ScsiCommand>();
        EXPECT_EQ(command.opcode, 0x01);
        EXPECT_EQ(command.lun, kUnitOnTheWire);
        return command;
    }
    static BlockCdb block_of(const ScsiCommand& command) {
        BlockCdb cdb;
        std::memcpy(&cdb, command.cdb.data(), sizeof cdb);
        return cdb;
    }
    void answer(const ScsiCommand& command, std::uint8_t status = 0, const Bytes& segment = {},
                std::size_t session = 0) {
        targets_[session]->send(targets_[session]->response(command.task_tag, status, segment));
    }

    std::vector<std::unique_ptr<ScriptedTarget>>& targets_ = peers_;
    DeviceLimits limits_;
};

} // namespace mpath::iscsi::test
