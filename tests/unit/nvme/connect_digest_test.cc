// SPDX-License-Identifier: GPL-2.0-only
// What ICReq asks for beyond the plainest, and connecting with it: digests, alignment, several R2Ts.
#include <sys/socket.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nvme/pdu_check.h"
#include "tests/unit/nvme/queue_connect_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::HasSubstr;

ConnectRequest request_for(const PduOptions& pdu) {
    ConnectRequest request = admin_request();
    request.pdu = pdu;
    return request;
}

IcResp granting(std::uint8_t dgst) {
    IcResp answer = good_ic_resp();
    answer.dgst = dgst;
    return answer;
}

TEST_F(QueueConnect, asks_for_what_the_options_say) {
    IcReq ic_req;
    const auto queue = connect(request_for({.hpda = 31, .max_r2t = 4}), [&](Wire& wire) {
        ic_req = wire.receive<IcReq>();
        wire.send_value(good_ic_resp());
        receive_connect(wire);
        wire.send_value(connect_resp(Status(), 1));
        wire.wait_for_end();
    });
    ASSERT_TRUE(queue) << queue.error().text;
    EXPECT_EQ(ic_req.hpda, 31);
    EXPECT_EQ(ic_req.maxr2t, 3U) << "0's based";
    EXPECT_EQ(ic_req.dgst, 0);
    EXPECT_EQ(queue->parameters.pdu, (PduOptions{.hpda = 31, .max_r2t = 4}));
}

struct Digests {
    const char* name;
    bool header;
    bool data;
    std::uint8_t dgst;
};

class QueueConnectDigests : public QueueConnect, public testing::WithParamInterface<Digests> {
protected:
    [[nodiscard]] static PduOptions asked() {
        return {.header_digest = GetParam().header, .data_digest = GetParam().data};
    }
    static void send_answer(const Wire& wire, const CapsuleResp& answer) {
        if (GetParam().header) {
            wire.send_value(with_digest(answer));
        } else {
            wire.send_value(answer);
        }
    }
};

TEST_P(QueueConnectDigests, protect_connect_and_its_completion) {
    for (const std::uint8_t cpda : {0, 1, 15, 31}) {
        IcReq ic_req;
        ConnectCapsule seen;
        const auto queue = connect(request_for(asked()), [&](Wire& wire) {
            ic_req = wire.receive<IcReq>();
            IcResp answer = granting(GetParam().dgst);
            answer.cpda = cpda;
            wire.send_value(answer);
            seen = receive_connect(wire);
            send_answer(wire, connect_resp(Status(), 0x0012));
            wire.wait_for_end();
        });
        ASSERT_TRUE(queue) << queue.error().text;
        EXPECT_EQ(ic_req.dgst, GetParam().dgst);
        EXPECT_EQ(queue->controller_id, 0x12);
        EXPECT_EQ(queue->parameters.pdu, asked());
        EXPECT_EQ(seen.capsule.common.flags, GetParam().dgst) << "the same two bits";
        EXPECT_EQ(seen.capsule.common.pdo % alignment_bytes(cpda), 0U);
        EXPECT_EQ(seen.capsule.common.plen,
                  seen.capsule.common.pdo + sizeof(ConnectData) + (GetParam().data ? 4 : 0));
        EXPECT_STREQ(seen.data.subnqn.data(), admin_request().subsystem_nqn.c_str());
        if (GetParam().header) {
            ASSERT_GE(seen.padding.size(), 4U);
            EXPECT_TRUE(digest_matches(std::as_bytes(std::span(&seen.capsule, 1)), seen.padding.data()));
        }
        if (GetParam().data) {
            EXPECT_EQ(seen.data_digest, crc32c(std::as_bytes(std::span(&seen.data, 1))));
        }
    }
}

TEST_P(QueueConnectDigests, leave_what_follows_the_answers_to_the_queue) {
    const auto queue = connect(request_for(asked()), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(granting(GetParam().dgst));
        receive_connect(wire);
        send_answer(wire, connect_resp(Status(), 1));
        send_answer(wire, connect_resp(Status(), 42));
        wire.wait_for_end();
    });
    ASSERT_TRUE(queue) << queue.error().text;
    CapsuleResp next;
    ASSERT_EQ(::recv(queue->socket.get(), &next, sizeof next, MSG_WAITALL), ssize_t{sizeof next});
    EXPECT_EQ(next.cqe.dw0, 42U);
}

TEST_P(QueueConnectDigests, that_the_target_does_not_do_are_missed) {
    const auto queue = connect(request_for(asked()), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(granting(0));
        wire.wait_for_end();
    });
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, ENOTSUP);
    const std::string_view which = GetParam().header && GetParam().data ? "header and data digests"
                                   : GetParam().header                  ? "header digests"
                                                                        : "data digests";
    EXPECT_THAT(queue.error().text, HasSubstr(fmt::format("does not do the {} that were asked for", which)));
}

INSTANTIATE_TEST_SUITE_P(Asked, QueueConnectDigests,
                         testing::Values(Digests{"header", true, false, 1}, Digests{"data", false, true, 2},
                                         Digests{"both", true, true, 3}),
                         [](const auto& row) { return row.param.name; });

TEST_F(QueueConnect, one_digest_of_two_names_the_missing_one) {
    const auto queue = connect(request_for({.header_digest = true, .data_digest = true}), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(granting(dgst::kHeader));
        wire.wait_for_end();
    });
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, ENOTSUP);
    EXPECT_THAT(queue.error().text, HasSubstr("does not do the data digests"));
}

TEST_F(QueueConnect, another_digest_than_the_one_asked_for_is_refused) {
    const auto queue = connect(request_for({.header_digest = true}), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(granting(dgst::kData));
        wire.wait_for_end();
    });
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, EPROTO);
    EXPECT_THAT(queue.error().text, HasSubstr("enables digests (DGST 2) that were not asked for (DGST 1)"));
}

struct BadCompletion {
    const char* name;
    void (*spoil)(DigestedConnectResp&);
    const char* sentence;
};

class QueueConnectBadDigest : public QueueConnect, public testing::WithParamInterface<BadCompletion> {};

TEST_P(QueueConnectBadDigest, is_refused) {
    const auto queue = connect(request_for({.header_digest = true}), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(granting(dgst::kHeader));
        receive_connect(wire);
        DigestedConnectResp answer = with_digest(connect_resp(Status(), 1));
        GetParam().spoil(answer);
        wire.send_value(answer);
        wire.wait_for_end();
    });
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, EPROTO);
    EXPECT_THAT(queue.error().text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, QueueConnectBadDigest,
    testing::Values(BadCompletion{"digest", [](DigestedConnectResp& r) { r.digest = r.digest ^ 1U; },
                                  "the header digest of the completion of Connect is wrong"},
                    BadCompletion{"header", [](DigestedConnectResp& r) { r.answer.cqe.dw0 = 2; },
                                  "the header digest of the completion of Connect is wrong"},
                    BadCompletion{"flag", [](DigestedConnectResp& r) { r.answer.common.flags = 0; },
                                  "which must be 01h"},
                    BadCompletion{"length", [](DigestedConnectResp& r) { r.answer.common.plen = 24; },
                                  "HLEN 24 and PLEN 24, which must be 24 and 28"}),
    [](const auto& row) { return row.param.name; });

TEST_F(QueueConnect, a_refusal_under_a_digest_says_what_to_do) {
    const auto queue = connect(request_for({.header_digest = true}), [](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(granting(dgst::kHeader));
        receive_connect(wire);
        wire.send_value(with_digest(connect_resp(Status(StatusCode::connect_busy), 0)));
        wire.wait_for_end();
    });
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, EBUSY);
}

} // namespace
} // namespace mpath::nvme::test
