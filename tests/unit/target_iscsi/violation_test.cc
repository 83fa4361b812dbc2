// SPDX-License-Identifier: GPL-2.0-only
// What an initiator may not do: it is refused by name, or ends its connection; never more than that.
#include <gtest/gtest.h>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;
namespace flag = iscsi::command_flag;
namespace reason = iscsi::reject_reason;

struct Violator {
    Violator() : initiator(bench) {
        initiator.log_in({{"InitialR2T", "No"}, {"FirstBurstLength", "1024"}, {"ImmediateData", "Yes"}});
    }
    /// The reason of the Reject that comes, -1 if none does.
    int rejected() {
        const auto pdu = initiator.receive();
        return pdu && pdu->opcode() == iscsi::Opcode::reject ? pdu->as<iscsi::Reject>().reason : -1;
    }
    iscsi::ScsiCommand write_request(std::uint32_t expected, bool final = true) {
        iscsi::ScsiCommand request;
        request.flags = static_cast<std::uint8_t>((final ? iscsi::kFinal : 0) | flag::kWrite);
        request.task_tag = 77;
        request.expected_length = expected;
        request.cmd_sn = initiator.cmd_sn++;
        request.cdb = blocks_cdb(op::kWrite16, 0, expected / 512);
        return request;
    }

    Bench bench;
    Initiator initiator;
};

TEST(TargetIscsiViolation, EndsTheConnection) {
    struct Row {
        const char* what;
        void (*act)(Violator&);
    };
    const Row rows[] = {
        {"more immediate data than a first burst",
         [](Violator& v) { v.initiator.send_pdu(v.write_request(2048), pattern(1028)); }},
        {"more immediate data than the command has",
         [](Violator& v) { v.initiator.send_pdu(v.write_request(512), pattern(516)); }},
        {"immediate data of a read",
         [](Violator& v) {
             auto request = v.write_request(512);
             request.flags = iscsi::kFinal | flag::kRead;
             v.initiator.send_pdu(request, pattern(4));
         }},
        {"a PDU longer than we take",
         [](Violator& v) {
             iscsi::NopOut ping;
             ping.data_length = 300000;
             v.initiator.send(v.initiator.sealed(std::bit_cast<iscsi::Bhs>(ping), {}));
         }},
        {"a gap in the commands' numbers",
         [](Violator& v) {
             ++v.initiator.cmd_sn;
             v.initiator.command(cdb({op::kTestUnitReady}));
         }},
        {"data for an R2T that is none",
         [](Violator& v) { v.initiator.data_out(77, 12345, 0, 0, pattern(512), true); }},
        {"a login in a session", [](Violator& v) { v.initiator.send_pdu(iscsi::LoginRequest()); }},
        {"unsolicited data out of its order",
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(1024, false));
             v.initiator.data_out(77, iscsi::kNoTag, 0, 512, pattern(512), true);
         }},
        {"unsolicited data with a wrong number",
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(1024, false));
             v.initiator.data_out(77, iscsi::kNoTag, 1, 0, pattern(512), true);
         }},
        {"unsolicited data beyond the first burst",
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(4096, false));
             v.initiator.data_out(77, iscsi::kNoTag, 0, 0, pattern(1536), true);
         }},
        {"unsolicited data of a command that announced none",
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(1024));
             v.initiator.receive(); // an R2T
             v.initiator.data_out(77, iscsi::kNoTag, 0, 0, pattern(512), true);
         }},
        {"solicited data that ends too early",
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(1024));
             v.initiator.data_out(77, v.initiator.receive()->as<iscsi::R2t>().target_tag, 0, 0, pattern(512),
                                  true);
         }},
        {"solicited data of another command",
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(1024));
             v.initiator.data_out(78, v.initiator.receive()->as<iscsi::R2t>().target_tag, 0, 0, pattern(1024),
                                  true);
         }},
    };
    for (const Row& row : rows) {
        Violator violator;
        row.act(violator);
        EXPECT_EQ(violator.rejected(), reason::kProtocolError) << row.what;
        EXPECT_TRUE(violator.initiator.ended()) << row.what;
        EXPECT_EQ(violator.bench.a.counters.violations, 1U) << row.what;
    }
}

TEST(TargetIscsiViolation, IsRejectedAlone) {
    struct Row {
        std::uint8_t reason;
        void (*act)(Violator&);
    };
    const Row rows[] = {
        {reason::kCommandNotSupported,
         [](Violator& v) {
             iscsi::Bhs unknown;
             unknown.opcode = 0x1e;
             v.initiator.send(v.initiator.sealed(unknown, {}));
         }},
        {reason::kSnackReject,
         [](Violator& v) {
             iscsi::Bhs snack;
             snack.opcode = 0x10;
             v.initiator.send(v.initiator.sealed(snack, {}));
         }},
        {reason::kInvalidPduField,
         [](Violator& v) { v.initiator.data_out(78, iscsi::kNoTag, 0, 0, pattern(10), true); }},
        {reason::kTaskInProgress,
         [](Violator& v) {
             v.initiator.send_pdu(v.write_request(1024));
             v.initiator.receive(); // an R2T
             v.initiator.send_pdu(v.write_request(1024));
         }},
    };
    for (const Row& row : rows) {
        Violator violator;
        row.act(violator);
        EXPECT_EQ(violator.rejected(), row.reason) << &row - rows;
        EXPECT_TRUE(violator.initiator.run(cdb({op::kTestUnitReady})).good()) << &row - rows;
        EXPECT_EQ(violator.bench.a.counters.violations, 0U);
    }
}

TEST(TargetIscsiViolation, OfAHeaderDigestEndsTheConnection) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in({{"HeaderDigest", "CRC32C"}});
    Bytes bytes = initiator.sealed(std::bit_cast<iscsi::Bhs>(iscsi::NopOut()), {});
    bytes[30] ^= std::byte{1};
    initiator.send(bytes);
    EXPECT_TRUE(initiator.ended());
    EXPECT_EQ(bench.a.counters.header_digest_errors, 1U);
}

TEST(TargetIscsiViolation, BeforeTheLoginEndsTheConnection) {
    for (const std::uint8_t opcode : {0x00, 0x01, 0x05, 0x3f}) {
        Bench bench;
        Initiator initiator(bench);
        iscsi::Bhs header;
        header.opcode = opcode;
        initiator.send(initiator.sealed(header, {}));
        EXPECT_FALSE(initiator.receive());
        EXPECT_TRUE(initiator.ended());
    }
}

TEST(TargetIscsiViolation, CommandsMayComeByteByByte) {
    Violator violator;
    const auto request = violator.write_request(512);
    auto with_data = request;
    with_data.data_length = 512;
    for (const std::byte byte :
         violator.initiator.sealed(std::bit_cast<iscsi::Bhs>(with_data), pattern(512))) {
        violator.initiator.send({&byte, 1});
    }
    EXPECT_TRUE(violator.initiator.end_of(77).good());
}

} // namespace
} // namespace mpath::target::scsi
