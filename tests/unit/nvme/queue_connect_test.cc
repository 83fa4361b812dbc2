// SPDX-License-Identifier: GPL-2.0-only
// Connecting a queue to peers that behave, and to those that are no NVMe/TCP target or a broken one.
#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/queue_connect_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(QueueConnect, asks_for_no_digests_and_one_r2t_and_describes_itself) {
    IcReq ic_req;
    ConnectCapsule seen;
    const auto queue = connect(admin_request(), [&](Wire& wire) {
        ic_req = wire.receive<IcReq>();
        wire.send_value(good_ic_resp());
        seen = receive_connect(wire);
        wire.send_value(connect_resp(Status(), 0x0012));
        wire.wait_for_end();
    });
    ASSERT_TRUE(queue) << queue.error().text;
    EXPECT_EQ(queue->controller_id, 0x12);
    EXPECT_EQ(queue->address, peer_text_);
    EXPECT_THAT(queue->local_address, StartsWith("127.0.0.1:"));
    EXPECT_EQ(queue->parameters.id, 0);
    EXPECT_EQ(queue->parameters.size, 32);
    EXPECT_EQ(queue->parameters.in_capsule, kAdminInCapsuleSize);
    EXPECT_EQ(queue->parameters.max_h2c_data, 131072U);

    EXPECT_EQ(ic_req.common.type, 0);
    EXPECT_EQ(ic_req.common.hlen, 128);
    EXPECT_EQ(ic_req.common.plen, 128U);
    EXPECT_EQ(ic_req.pfv, 0);
    EXPECT_EQ(ic_req.hpda, 0);
    EXPECT_EQ(ic_req.dgst, 0);
    EXPECT_EQ(ic_req.maxr2t, 0U);

    EXPECT_EQ(seen.capsule.common.pdo, 72);
    EXPECT_EQ(seen.capsule.common.plen, 72U + 1024U);
    EXPECT_EQ(seen.command.opcode, kFabricsOpcode);
    EXPECT_EQ(seen.command.flags, kSqeFlagsSgl);
    EXPECT_EQ(seen.command.fctype, 1);
    EXPECT_EQ(seen.command.sgl.identifier, kSglInCapsule);
    EXPECT_EQ(seen.command.sgl.length, 1024U);
    EXPECT_EQ(seen.command.qid, 0);
    EXPECT_EQ(seen.command.sqsize, 31);
    EXPECT_EQ(seen.command.cattr, kCattrDisableSqFlowControl);
    EXPECT_EQ(seen.command.kato, 5000U);
    EXPECT_EQ(seen.data.cntlid, kDynamicController);
    EXPECT_EQ(seen.data.hostid, admin_request().host.id);
    EXPECT_STREQ(seen.data.subnqn.data(), admin_request().subsystem_nqn.c_str());
    EXPECT_STREQ(seen.data.hostnqn.data(), admin_request().host.nqn.c_str());
}

TEST_F(QueueConnect, an_io_queue_names_its_association) {
    ConnectCapsule seen;
    const auto queue = connect(io_request(), [&](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(good_ic_resp());
        seen = receive_connect(wire);
        wire.send_value(connect_resp(Status(), 7));
        wire.wait_for_end();
    });
    ASSERT_TRUE(queue) << queue.error().text;
    EXPECT_EQ(queue->parameters.id, 3);
    EXPECT_EQ(queue->parameters.size, 128);
    EXPECT_EQ(seen.command.qid, 3);
    EXPECT_EQ(seen.command.sqsize, 127);
    EXPECT_EQ(seen.command.kato, 0U);
    EXPECT_EQ(seen.data.cntlid, 7);
}

TEST_F(QueueConnect, pads_its_data_as_the_target_asks) {
    ConnectCapsule seen;
    const auto queue = connect(admin_request(), [&](Wire& wire) {
        wire.receive<IcReq>();
        IcResp answer = good_ic_resp();
        answer.cpda = kMaxPduDataAlignment;
        wire.send_value(answer);
        seen = receive_connect(wire);
        wire.send_value(connect_resp(Status(), 1));
        wire.wait_for_end();
    });
    ASSERT_TRUE(queue) << queue.error().text;
    EXPECT_EQ(seen.capsule.common.pdo, 128);
    EXPECT_EQ(seen.capsule.common.plen, 128U + 1024U);
    EXPECT_STREQ(seen.data.subnqn.data(), admin_request().subsystem_nqn.c_str());
    EXPECT_EQ(queue->parameters.cpda, kMaxPduDataAlignment);
}

TEST_F(QueueConnect, reads_answers_that_arrive_byte_by_byte) {
    const auto queue = connect(admin_request(), [&](Wire& wire) {
        const auto dribble = [&wire](const auto& value) {
            for (const std::byte& byte : std::as_bytes(std::span(&value, 1))) {
                wire.send(std::span(&byte, 1));
            }
        };
        wire.receive<IcReq>();
        dribble(good_ic_resp());
        receive_connect(wire);
        dribble(connect_resp(Status(), 1));
        wire.wait_for_end();
    });
    EXPECT_TRUE(queue) << queue.error().text;
}

TEST_F(QueueConnect, leaves_what_follows_the_answers_to_the_queue) {
    const auto queue = connect(admin_request(), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(good_ic_resp());
        receive_connect(wire);
        const std::array<CapsuleResp, 2> both{connect_resp(Status(), 1), connect_resp(Status(), 42)};
        wire.send_value(both);
        wire.wait_for_end();
    });
    ASSERT_TRUE(queue) << queue.error().text;
    CapsuleResp next;
    ASSERT_EQ(::recv(queue->socket.get(), &next, sizeof next, MSG_DONTWAIT), ssize_t{sizeof next});
    EXPECT_EQ(next.cqe.dw0, 42U);
}

// ---- no NVMe/TCP at the other end

TEST_F(QueueConnect, a_refused_port_is_named) {
    net::SocketAddress nowhere;
    {
        const ScriptedPeer peer([](Wire&) {});
        nowhere = peer.address();
        // The peer wants one connection before it goes.
        auto first = net::run_until_done(
            *reactor_, net::connect_tcp(*reactor_, std::span(&nowhere, 1), {}, clock_.now() + 10 * kSecond));
        ASSERT_TRUE(first);
    }
    const auto queue =
        net::run_until_done(*reactor_, connect_queue(*reactor_, std::span(&nowhere, 1), admin_request(),
                                                     clock_.now() + 10 * kSecond));
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, ECONNREFUSED);
    EXPECT_THAT(queue.error().text, HasSubstr(nowhere.text()));
}

TEST_F(QueueConnect, every_other_sentence_begins_with_the_peers_address) {
    const Error error = refused([](Wire& wire) { wire.send("220 mail.example.org ESMTP ready\r\n"); });
    EXPECT_THAT(error.text, StartsWith(peer_text_ + ": "));
}

TEST_F(QueueConnect, a_server_of_another_protocol_is_quoted) {
    const Error error = refused([](Wire& wire) {
        wire.send("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr("is no NVMe/TCP target, it says \"SSH-2.0-"));
    EXPECT_THAT(error.text, HasSubstr("check address and port"));
}

TEST_F(QueueConnect, an_answer_of_other_bytes_is_shown) {
    const Error error = refused([](Wire& wire) {
        wire.receive<IcReq>();
        const std::array<std::uint8_t, 16> bytes{0x4e, 0xff, 0x01};
        wire.send_value(bytes);
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr("is no NVMe/TCP target, it answers ICReq with the bytes 4e ff 01 00"));
}

TEST_F(QueueConnect, a_silent_peer_is_given_up_at_the_deadline) {
    const Error error = refused([](Wire& wire) { wire.wait_for_end(); }, 200 * kMillisecond);
    EXPECT_EQ(error.code, ETIMEDOUT);
    EXPECT_THAT(error.text, HasSubstr("while waiting for ICResp"));
    EXPECT_THAT(error.text, HasSubstr("no NVMe/TCP target"));
}

TEST_F(QueueConnect, a_peer_that_hangs_after_icresp_is_given_up_at_the_deadline) {
    const Error error = refused(
        [](Wire& wire) {
            wire.receive<IcReq>();
            wire.send_value(good_ic_resp());
            wire.wait_for_end();
        },
        200 * kMillisecond);
    EXPECT_EQ(error.code, ETIMEDOUT);
    EXPECT_THAT(error.text, HasSubstr("while waiting for the completion of Connect"));
}

TEST_F(QueueConnect, a_peer_that_closes_is_told_from_one_that_hangs) {
    const Error error = refused([](Wire& wire) { wire.receive<IcReq>(); });
    EXPECT_EQ(error.code, ECONNRESET);
    EXPECT_THAT(error.text, HasSubstr("the connection ended (closed by the peer) while waiting for ICResp"));
}

TEST_F(QueueConnect, a_tls_alert_means_that_tls_is_demanded) {
    const Error error = refused([](Wire& wire) {
        wire.receive<IcReq>();
        const std::array<std::uint8_t, 7> unexpected_message{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a};
        wire.send_value(unexpected_message);
    });
    EXPECT_EQ(error.code, EACCES);
    EXPECT_THAT(error.text, HasSubstr("the target demands TLS"));
}

// ---- ICResp

TEST_F(QueueConnect, a_termination_request_gives_its_reason) {
    const Error error = refused([](Wire& wire) {
        wire.receive<IcReq>();
        struct {
            TermReq request;
            IcReq offender;
        } message;
        message.request.common.type = static_cast<std::uint8_t>(PduType::c2h_term_req);
        message.request.common.hlen = sizeof(TermReq);
        message.request.common.plen = sizeof message;
        message.request.fes = static_cast<std::uint16_t>(FatalStatus::unsupported_parameter);
        message.request.fei = 8;
        wire.send_value(message);
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr("in answer to ICReq: unsupported parameter (FES 6, FEI 8)"));
}

TEST_F(QueueConnect, bytes_behind_icresp_are_refused) {
    const Error error = refused([](Wire& wire) {
        wire.receive<IcReq>();
        struct {
            IcResp answer = good_ic_resp();
            std::array<std::uint8_t, 64> garbage{0xde, 0xad, 0xbe, 0xef};
        } message;
        wire.send_value(message);
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr("more bytes came behind ICResp"));
}

TEST_F(QueueConnect, garbage_instead_of_the_completion_is_refused) {
    const Error error = refused([](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(good_ic_resp());
        receive_connect(wire);
        const std::array<std::uint8_t, 64> garbage{0xde, 0xad, 0xbe, 0xef};
        wire.send_value(garbage);
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr("behind ICResp came the bytes de ad be ef"));
}

struct BadIcResp {
    const char* name;
    void (*spoil)(IcResp&);
    const char* sentence;
};

class QueueConnectIcResp : public QueueConnect, public testing::WithParamInterface<BadIcResp> {};

TEST_P(QueueConnectIcResp, is_refused) {
    const Error error = refused([](Wire& wire) {
        wire.receive<IcReq>();
        IcResp answer = good_ic_resp();
        GetParam().spoil(answer);
        wire.send_value(answer);
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Illegal, QueueConnectIcResp,
    testing::Values(BadIcResp{"pfv", [](IcResp& r) { r.pfv = 1; }, "version 1 of the PDU format"},
                    BadIcResp{"hlen", [](IcResp& r) { r.common.hlen = 24; }, "ICResp has HLEN 24"},
                    BadIcResp{"plen", [](IcResp& r) { r.common.plen = 4096; }, "PLEN 4096"},
                    BadIcResp{"cpda", [](IcResp& r) { r.cpda = 32; }, "(CPDA) of 32"},
                    BadIcResp{"header_digest", [](IcResp& r) { r.dgst = 1; }, "enables digests (DGST 1)"},
                    BadIcResp{"data_digest", [](IcResp& r) { r.dgst = 2; }, "enables digests (DGST 2)"},
                    BadIcResp{"reserved_dgst", [](IcResp& r) { r.dgst = 4; }, "enables digests (DGST 4)"},
                    BadIcResp{"maxh2cdata_small", [](IcResp& r) { r.maxh2cdata = 4092; }, "MAXH2CDATA 4092"},
                    BadIcResp{"maxh2cdata_zero", [](IcResp& r) { r.maxh2cdata = 0; }, "MAXH2CDATA 0"},
                    BadIcResp{"maxh2cdata_odd", [](IcResp& r) { r.maxh2cdata = 4098; }, "MAXH2CDATA 4098"}),
    [](const auto& row) { return row.param.name; });

} // namespace
} // namespace mpath::nvme::test
