// SPDX-License-Identifier: GPL-2.0-only
// A path with one scripted controller at the end of each of its queues.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "net/reactor.h"
#include "nvme/io_path.h"
#include "tests/unit/nvme_queue/scripted_controller.h"
#include "tests/unit/path/path_fixture.h"

namespace mpath::nvme::test {

struct PathShape {
    std::size_t queues = 1;
    std::uint16_t queue_size = 128;
    std::uint32_t in_capsule = 8192;
    std::uint32_t block_size = 512;
    std::uint32_t max_transfer = 8192;
    PduOptions pdu{};
    std::uint64_t boundary = 0;
    std::uint64_t max_trim = 0;
    std::uint64_t max_write_zeroes = 0;
    WriteOptions writes{};
    std::array<Nanoseconds, 3> retry_delays{};
};

class IoPathTest : public mpath::test::PathFixture<IoPath, ScriptedController> {
protected:
    static constexpr std::uint32_t kNsid = 9;

    void open(const PathShape& shape = {}) {
        ASSERT_NO_FATAL_FAILURE(make_reactor());
        DeviceLimits limits;
        limits.size = std::uint64_t{1} << 40;
        limits.block_size = shape.block_size;
        limits.max_transfer = shape.max_transfer;
        limits.boundary = shape.boundary;
        limits.max_trim = shape.max_trim;
        limits.max_write_zeroes = shape.max_write_zeroes;
        path_ = std::make_unique<IoPath>(kIndex, kNsid, limits, shape.writes, *reactor_, completions_,
                                         static_cast<PathListener&>(*this));
        std::vector<ConnectedQueue> queues;
        for (std::size_t i = 0; i < shape.queues; ++i) {
            auto pair = net::test::make_socket_pair();
            controllers_.push_back(std::make_unique<ScriptedController>(std::move(pair.theirs)));
            ConnectedQueue queue;
            queue.socket = std::move(pair.ours);
            queue.parameters.id = static_cast<std::uint16_t>(i + 1);
            queue.parameters.size = shape.queue_size;
            queue.parameters.in_capsule = shape.in_capsule;
            queue.parameters.pdu = shape.pdu;
            queues.push_back(std::move(queue));
        }
        ControllerFacts facts;
        facts.limits = limits;
        facts.retry_delays = shape.retry_delays;
        ConnectedPath connected(facts, std::move(queues));
        path_->attach(connected);
    }

    Pdu receive_pdu(std::size_t queue = 0) {
        return receive_from(queue).value_or(Pdu{Bytes(sizeof(CapsuleCmd))});
    }
    RwCommand receive_command(std::size_t queue = 0) {
        RwCommand command;
        const Pdu pdu = receive_pdu(queue);
        std::memcpy(&command, pdu.bytes.data() + sizeof(CommonHeader), sizeof command);
        return command;
    }

    std::vector<std::unique_ptr<ScriptedController>>& controllers_ = peers_;
};

} // namespace mpath::nvme::test
