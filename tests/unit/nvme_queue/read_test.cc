// SPDX-License-Identifier: GPL-2.0-only
// Data that a controller sends for a command, in every shape the standard allows.
#include <array>

#include "tests/unit/nvme_queue/queue_fixture.h"

namespace mpath::nvme::test {
namespace {

using pdu_flag::kLastPdu;
using pdu_flag::kSuccess;

class QueueRead : public QueueTest {};

TEST_F(QueueRead, CommandCapsuleAsksForTheTransportToMoveTheData) {
    open();
    Bytes buffer(4096);
    Sqe sqe;
    sqe.opcode = io_opcode::kRead;
    sqe.nsid = 7;
    queue_->submit(sqe, Transfer::to_host, buffer.data(), 4096, nullptr);
    queue_->flush();
    const auto capsule = receive_pdu().as<CapsuleCmd>();
    EXPECT_EQ(capsule.common.type, 0x04);
    EXPECT_EQ(capsule.common.flags, 0);
    EXPECT_EQ(capsule.common.hlen, 72);
    EXPECT_EQ(capsule.common.pdo, 0);
    EXPECT_EQ(capsule.common.plen, 72U);
    EXPECT_EQ(capsule.sqe.opcode, 0x02);
    EXPECT_EQ(capsule.sqe.flags, 0x40);
    EXPECT_EQ(capsule.sqe.nsid, 7U);
    EXPECT_EQ(capsule.sqe.sgl.identifier, 0x5a);
    EXPECT_EQ(capsule.sqe.sgl.address, 0U);
    EXPECT_EQ(capsule.sqe.sgl.length, 4096U);
}

TEST_F(QueueRead, CommandWithoutDataHasAnEmptyTransportDescriptor) {
    open();
    queue_->submit({}, Transfer::none, nullptr, 0, nullptr);
    queue_->flush();
    const auto capsule = receive_pdu().as<CapsuleCmd>();
    EXPECT_EQ(capsule.common.plen, 72U);
    EXPECT_EQ(capsule.sqe.sgl.identifier, 0x5a);
    EXPECT_EQ(capsule.sqe.sgl.length, 0U);
}

TEST_F(QueueRead, DataWithSuccessCompletesWithoutAResponse) {
    open();
    const Bytes data = pattern(4096);
    Bytes buffer(4096);
    int owner = 0;
    controller_->send(c2h_data(start_read(buffer, &owner), 0, data, kLastPdu | kSuccess));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].owner, &owner);
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_FALSE(done_[0].lost);
    EXPECT_EQ(done_[0].dw0, 0U);
    EXPECT_EQ(buffer, data);
    EXPECT_EQ(queue_->outstanding(), 0U);
}

TEST_F(QueueRead, ResponseBehindTheDataCompletes) {
    open();
    const Bytes data = pattern(4096);
    Bytes buffer(4096);
    const auto cid = start_read(buffer);
    controller_->send(c2h_data(cid, 0, data, kLastPdu));
    settle();
    EXPECT_TRUE(done_.empty()) << "LAST_PDU alone ends nothing";
    auto answer = response(cid);
    answer.cqe.dw0 = 0x11223344;
    answer.cqe.dw1 = 0x55667788;
    controller_->send(answer);
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_EQ(done_[0].dw0, 0x11223344U);
    EXPECT_EQ(done_[0].dw1, 0x55667788U);
    EXPECT_EQ(buffer, data);
}

TEST_F(QueueRead, StatusOfTheResponseIsTheCommandsStatus) {
    open();
    Bytes buffer(4096);
    const Status status(StatusCode::ana_inaccessible, true);
    controller_->send(response(start_read(buffer), status));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status, status);
    EXPECT_FALSE(done_[0].lost);
}

struct Piece {
    std::uint32_t length;
    std::uint8_t pdo;
};

struct ReadShape {
    const char* name;
    std::vector<Piece> pieces;
    bool with_success; ///< else a response follows
};

/// The stream of PDUs that answers one read of `data`.
Bytes answer_in(const ReadShape& shape, std::uint16_t cid, const Bytes& data) {
    Bytes stream;
    std::uint32_t offset = 0;
    for (std::size_t i = 0; i < shape.pieces.size(); ++i) {
        const bool last = i + 1 == shape.pieces.size();
        const auto flags =
            static_cast<std::uint8_t>((last ? kLastPdu : 0) | (last && shape.with_success ? kSuccess : 0));
        const auto [length, pdo] = shape.pieces[i];
        stream = stream + c2h_data(cid, offset, slice(data, offset, length), flags, pdo);
        offset += length;
    }
    return shape.with_success ? stream : stream + bytes_of(response(cid));
}

const std::array<ReadShape, 4> kSmallShapes = {
    ReadShape{"OnePdu", {{512, 24}}, true},
    ReadShape{"OnePduAndResponse", {{512, 24}}, false},
    ReadShape{"OddPieces", {{1, 24}, {3, 24}, {255, 24}, {253, 24}}, true},
    ReadShape{"PaddedPieces", {{100, 64}, {412, 128}}, false},
};

class QueueReadShape : public QueueTest, public testing::WithParamInterface<ReadShape> {};

TEST_P(QueueReadShape, GivesTheSameInEveryCutOfTheByteStream) {
    open();
    const Bytes data = pattern(512);
    std::size_t length = 1;
    for (std::size_t cut = 1; cut < length; ++cut) {
        Bytes buffer(512);
        done_.clear();
        const Bytes stream = answer_in(GetParam(), start_read(buffer), data);
        length = stream.size();
        controller_->send(slice(stream, 0, cut));
        reactor_->run(0);
        reactor_->run(0);
        controller_->send(slice(stream, cut, length - cut));
        ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
        EXPECT_TRUE(done_[0].status.ok()) << "cut at " << cut;
        ASSERT_EQ(buffer, data) << "cut at " << cut;
    }
}

TEST_P(QueueReadShape, GivesTheSameWithEveryByteInItsOwnSegment) {
    open();
    const Bytes data = pattern(512);
    Bytes buffer(512);
    for (const std::byte byte : answer_in(GetParam(), start_read(buffer), data)) {
        controller_->send(Bytes{byte});
        reactor_->run(0);
    }
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_EQ(buffer, data);
}

TEST_P(QueueReadShape, GivesTheSameForManyCommandsInOneSegment) {
    open();
    std::array<Bytes, 31> buffers;
    Bytes stream;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i].resize(512);
        stream =
            stream + answer_in(GetParam(), start_read(buffers[i]), pattern(512, static_cast<unsigned>(i)));
    }
    controller_->send(stream);
    ASSERT_TRUE(run_until_done(buffers.size()));
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        EXPECT_EQ(buffers[i], pattern(512, static_cast<unsigned>(i)));
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, QueueReadShape, testing::ValuesIn(kSmallShapes),
                         [](const auto& row) { return row.param.name; });

/// Lengths that cross both thresholds: received directly from 16 KiB on, as a whole from 32 KiB on.
class QueueLargeRead : public QueueTest {
protected:
    void read_in_cuts(const ReadShape& shape, std::uint32_t length) {
        const Bytes data = pattern(length);
        Bytes stream = answer_in(shape, 0, data);
        // Around every edge of a PDU, where a mistake would be, and in the middle of the data.
        std::vector<std::size_t> cuts = {1, 23, 24, 25, 47, 48, 49, stream.size() / 2};
        std::size_t edge = 0;
        for (const auto& [piece, pdo] : shape.pieces) {
            edge += pdo + piece;
            for (const std::size_t around : {edge - 1, edge, edge + 1, edge + 23, edge + 24, edge + 25}) {
                cuts.push_back(around);
            }
        }
        for (const std::size_t cut : cuts) {
            if (cut >= stream.size()) {
                continue;
            }
            Bytes buffer(length);
            done_.clear();
            stream = answer_in(shape, start_read(buffer), data);
            controller_->send(slice(stream, 0, cut));
            reactor_->run(0);
            reactor_->run(0);
            controller_->send(slice(stream, cut, stream.size() - cut));
            ASSERT_TRUE(run_until_done(1)) << "cut at " << cut;
            EXPECT_TRUE(done_[0].status.ok()) << "cut at " << cut;
            ASSERT_TRUE(buffer == data) << "cut at " << cut;
        }
    }
};

TEST_F(QueueLargeRead, OfOnePduGivesTheSameInEveryCut) {
    open();
    read_in_cuts({"", {{20'000, 24}}, true}, 20'000);
    read_in_cuts({"", {{128 * 1024, 24}}, false}, 128 * 1024);
}

TEST_F(QueueLargeRead, OfManyOddPdusGivesTheSameInEveryCut) {
    open();
    read_in_cuts(
        {"", {{1, 24}, {40'000, 24}, {33, 24}, {32'768, 128}, {16'385, 24}, {9'999, 24}, {31'886, 24}}, true},
        40'000 + 1 + 33 + 32'768 + 16'385 + 9'999 + 31'886);
}

TEST_F(QueueLargeRead, IsReceivedWhereItBelongsFromTheFirstOneOn) {
    open();
    const Bytes data = pattern(128 * 1024);
    Bytes buffer(data.size());
    for (std::size_t i = 1; i <= 3; ++i) { // one after the other: no other large read keeps the window small
        controller_->send(c2h_data(start_read(buffer), 0, data, kLastPdu | kSuccess));
        ASSERT_TRUE(run_until_done(i));
        EXPECT_TRUE(buffer == data);
    }
    const auto& wire = queue_->wire_statistics();
    EXPECT_EQ(wire.bytes_received, 3 * (data.size() + sizeof(C2hData)));
    EXPECT_EQ(wire.bytes_received_direct + queue_->statistics().payload_copied, 3 * data.size());
    EXPECT_LE(queue_->statistics().payload_copied, 3 * sizeof(C2hData));
}

TEST_F(QueueLargeRead, LeavesTheWindowToSmallOnesAfterwards) {
    open({.size = 128});
    Bytes large(64 * 1024);
    controller_->send(c2h_data(start_read(large), 0, pattern(large.size()), kLastPdu | kSuccess));
    ASSERT_TRUE(run_until_done(1));
    // The receive that is under way still has the small window; the one behind it takes all there is.
    std::array<Bytes, 100> small;
    Bytes stream;
    for (Bytes& buffer : small) {
        buffer.resize(4096);
        stream = stream + c2h_data(start_read(buffer), 0, pattern(4096), kLastPdu | kSuccess);
    }
    const auto calls = reactor_->system_calls();
    controller_->send(stream);
    ASSERT_TRUE(run_until_done(1 + small.size()));
    EXPECT_LT(reactor_->system_calls() - calls, small.size() / 2);
}

struct ShortRead {
    const char* name;
    std::uint32_t sent; ///< of 1024 bytes asked for
    std::uint8_t flags;
    bool response;
};

class QueueShortRead : public QueueTest, public testing::WithParamInterface<ShortRead> {};

TEST_P(QueueShortRead, IsADataTransferErrorAndNoSuccess) {
    open();
    Bytes buffer(1024);
    const auto cid = start_read(buffer);
    const auto [name, sent, flags, with_response] = GetParam();
    if (sent > 0) {
        controller_->send(c2h_data(cid, 0, pattern(sent), flags));
    }
    if (with_response) {
        controller_->send(response(cid));
    }
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status.code(), StatusCode::data_transfer_error);
    EXPECT_FALSE(done_[0].lost);
    EXPECT_FALSE(closed_) << "the connection goes on";
}

INSTANTIATE_TEST_SUITE_P(
    Rows, QueueShortRead,
    testing::Values(ShortRead{"NoDataAtAll", 0, 0, true}, ShortRead{"HalfTheDataThenResponse", 512, 0, true},
                    ShortRead{"HalfTheDataAsLastThenResponse", 512, kLastPdu, true},
                    ShortRead{"HalfTheDataWithSuccess", 512, kLastPdu | kSuccess, false}),
    [](const auto& row) { return row.param.name; });

TEST_F(QueueShortRead, KeepsTheControllersOwnError) {
    open();
    Bytes buffer(1024);
    const auto cid = start_read(buffer);
    controller_->send(c2h_data(cid, 0, pattern(512), 0));
    controller_->send(response(cid, Status(StatusCode::internal_error)));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_EQ(done_[0].status.code(), StatusCode::internal_error);
}

} // namespace
} // namespace mpath::nvme::test
