// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login.h"

#include <array>
#include <functional>
#include <string>

#include "iscsi/login_status.h"
#include "tests/unit/iscsi_text/login_fixture.h"

namespace mpath::iscsi::test {
namespace {

struct Status {
    std::uint8_t status_class;
    std::uint8_t detail;
    int code;
    bool final;
    std::string sentence;
};

TEST(LoginStatus, has_a_code_and_a_sentence) {
    const Status rows[] = {
        {2, 1, EACCES, true,
         "the target does not believe who we are: check chap_user and chap_secret_file (login status 0201h)"},
        {2, 2, EACCES, false,
         "iqn.t does not let initiator iqn.i in: allow it at the target, or check initiator= (login status "
         "0202h)"},
        {2, 3, ENODEV, false,
         "there is no target iqn.t here: check its name, and that it is offered at this address and to this "
         "initiator "
         "(login status 0203h)"},
        {2, 4, ENODEV, true, "target iqn.t was removed from here (login status 0204h)"},
        {2, 5, ENOTSUP, true,
         "the target does not speak version 0 of iSCSI, which is the only one we do (login status 0205h)"},
        {2, 6, EBUSY, false,
         "the target has no room for another connection: lower nr_io_queues, or raise its limit (login "
         "status 0206h)"},
        {2, 7, EPROTO, true, "the target misses something in our login (login status 0207h)"},
        {2, 0x99, EPROTO, false, "the target refuses the login with status 0299h"},
        {3, 0, EIO, false, "the target has an error of its own: look at its log (login status 0300h)"},
        {3, 1, EBUSY, false, "the target is there, but can't serve us now (login status 0301h)"},
        {3, 2, EBUSY, false,
         "the target is out of resources: end other sessions, or lower nr_io_queues (login status 0302h)"},
        {3, 0x99, EIO, false, "the target refuses the login with status 0399h"},
        {0xff, 1, EIO, false, "the target refuses the login with status ff01h"},
    };
    for (const Status& row : rows) {
        const Error error = login_status(row.status_class, row.detail, {"iqn.i", "iqn.t", true, false});
        EXPECT_EQ(error.code, row.code) << row.sentence;
        EXPECT_EQ(error.final, row.final) << row.sentence;
        EXPECT_EQ(error.text, row.sentence);
    }
}

TEST(LoginStatus, says_of_which_secrets_there_is_doubt) {
    EXPECT_EQ(login_status(2, 1, {"iqn.i", "iqn.t", false, false}).text,
              "the target does not believe who we are: it wants proof, give it chap_user and "
              "chap_secret_file (login "
              "status 0201h)");
    EXPECT_EQ(login_status(2, 1, {"iqn.i", "iqn.t", true, true}).text,
              "the target does not believe who we are: check chap_user, chap_secret_file, and that the "
              "target has a "
              "secret for us, too (login status 0201h)");
}

TEST_F(Login, ends_with_the_targets_status_in_either_stage) {
    for (const bool second_stage : {false, true}) {
        const Error error = refused([second_stage](Wire& wire) {
            LoginPeer target(wire);
            if (second_stage) {
                target.let_in();
            } else {
                target.receive();
            }
            // What else such a response says means nothing.
            LoginResponse refusal;
            refusal.status_class = 2;
            refusal.status_detail = 1;
            wire.send_value(refusal);
        });
        EXPECT_EQ(error.code, EACCES);
        EXPECT_TRUE(error.final);
    }
}

struct Broken {
    std::string name;
    std::function<void(LoginResponse&)> change;
    std::string sentence;
};

class BrokenResponse : public Login, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenResponse, is_named) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        LoginResponse answer = target.response(kSecurityToOperational);
        GetParam().change(answer);
        wire.send_value(answer);
        wire.wait_for_end();
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_EQ(error.text, "the target broke the protocol: its login response " + GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BrokenResponse,
    testing::Values(
        Broken{"version", [](auto& r) { r.version_active = 1; }, "has version 1, which must be 0"},
        Broken{"task_tag", [](auto& r) { r.task_tag = 7; }, "has task tag 0x7, which must be 0x1"},
        Broken{"isid", [](auto& r) { r.isid[5] = 8; }, "has another ISID than the request"},
        Broken{"stage", [](auto& r) { r.flags = kOperationalToFull; },
               "is one of the operational stage, in the security stage"},
        Broken{"reserved_stage", [](auto& r) { r.flags = 2 << 2; },
               "is one of the reserved stage, in the security stage"},
        Broken{"next_stage",
               [](auto& r) {
                   r.flags =
                       login_flag::kTransit | login_stages(LoginStage::security, LoginStage::full_feature);
               },
               "goes to the full feature stage, the request to the operational stage"},
        Broken{"both_flags", [](auto& r) { r.flags |= login_flag::kContinue; }, "ends the stage and goes on"},
        Broken{"additional_header", [](auto& r) { r.ahs_length = 1; }, "has an additional header segment"},
        Broken{"too_much_data", [](auto& r) { r.data_length = 8193; },
               "has 8193 bytes of data, at most 8192 are allowed"}),
    [](const auto& row) { return row.param.name; });

TEST_F(Login, refuses_an_end_of_the_stage_that_was_not_proposed) {
    LoginRequestOptions options = good_login();
    options.chap = {"me", "our secret", ""};
    const Error error = refused(
        [](Wire& wire) {
            LoginPeer target(wire);
            target.receive();
            target.answer(kStaySecurity, {{"AuthMethod", "CHAP"}});
            target.receive();
            target.answer(kSecurityToOperational);
        },
        options);
    EXPECT_EQ(error.text,
              "the target broke the protocol: its login response ends the stage, which was not asked for");
}

TEST_F(Login, refuses_a_session_without_a_handle) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        target.let_in();
        LoginResponse answer = target.response(kOperationalToFull);
        answer.tsih = 0;
        wire.send_value(answer);
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_EQ(error.text, "the target broke the protocol: its session has no handle (TSIH 0)");
}

TEST_F(Login, refuses_text_that_is_none) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        send_pdu(wire, target.response(kSecurityToOperational), "AuthMethod");
    });
    EXPECT_EQ(error.text, "the target broke the protocol: its text has the key AuthMethod without a value");
}

TEST_F(Login, refuses_an_answer_without_end) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        for (int i = 0; i < 9; ++i) {
            target.receive();
            send_pdu(wire, target.response(kStaySecurity | login_flag::kContinue), std::string(8192, 'x'));
        }
        wire.wait_for_end();
    });
    EXPECT_EQ(error.text, "the target broke the protocol: its answer has more than 65536 bytes");
}

TEST_F(Login, refuses_a_stage_without_end) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        for (int i = 0; i < 128; ++i) {
            target.receive();
            target.answer(kStaySecurity);
        }
        wire.wait_for_end();
    });
    EXPECT_EQ(error.text, "the target does not come to an end with the login, after 128 requests");
}

TEST_F(Login, names_digests_that_can_t_be_had) {
    LoginRequestOptions options = good_login();
    options.data_digest = true;
    const Error error = refused(
        [](Wire& wire) {
            LoginPeer target(wire);
            target.log_in({{"HeaderDigest", "None"}, {"DataDigest", "None"}});
        },
        options);
    EXPECT_EQ(error.code, ENOTSUP);
}

TEST_F(Login, names_the_reason_of_a_reject) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        Reject reject;
        reject.reason = reject_reason::kProtocolError;
        wire.send_value(reject);
    });
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_EQ(error.text, "the target rejects the login request: protocol error (reason 04h)");
}

TEST_F(Login, recognizes_what_is_no_target) {
    const std::string usual = ": check address and port (iSCSI is usually on 3260)";
    const std::tuple<std::string, int, std::string> strangers[] = {
        {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", EPROTO,
         "the peer is no iSCSI target, it says \"HTTP/1.1 400 Bad Request\"" + usual},
        {"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", EPROTO,
         "the peer is no iSCSI target, it says \"SSH-2.0-OpenSSH_9.2p1 Debian\"" + usual},
        {"\x15\x03\x01\x02\x02\x02\x46", EACCES,
         "the peer demands TLS, which iSCSI does not have: check address and port"},
        {std::string("\x01\x02\x03\x04\x05\x06\x07\x08", 8) + std::string(40, '\0'), EPROTO,
         "the peer is no iSCSI target, it answers the login with the bytes 01 02 03 04 05 06 07 08" + usual},
    };
    for (const auto& [words, code, sentence] : strangers) {
        const Error error = refused([&said = words](Wire& wire) {
            wire.receive<LoginRequest>();
            wire.send(said);
        });
        EXPECT_EQ(error.code, code);
        EXPECT_EQ(error.text, sentence);
    }
}

TEST_F(Login, names_a_foreign_pdu_in_the_second_stage) {
    const Error error = refused([](Wire& wire) {
        LoginPeer target(wire);
        target.let_in();
        wire.send_value(NopIn{});
    });
    EXPECT_EQ(
        error.text,
        "the target broke the protocol: instead of a login response came the bytes 20 80 00 00 00 00 00 00");
}

TEST_F(Login, says_in_which_stage_the_target_went_away) {
    EXPECT_EQ(refused([](Wire& wire) { wire.receive<LoginRequest>(); }).text,
              "the connection ended (closed by the peer) while waiting for an answer in the login's security "
              "stage: the "
              "peer is no iSCSI target, or hangs; check address and port (iSCSI is usually on 3260)");
    EXPECT_EQ(refused([](Wire& wire) {
                  LoginPeer target(wire);
                  target.let_in();
              }).text,
              "the connection ended (closed by the peer) while waiting for an answer in the login's "
              "operational stage: "
              "look at the target's log");
}

TEST_F(Login, gives_up_at_its_deadline) {
    const Error error = refused([](Wire& wire) { wire.wait_for_end(); }, good_login(), 50 * kMillisecond);
    EXPECT_EQ(error.code, ETIMEDOUT);
    EXPECT_NE(error.text.find("while waiting for an answer in the login's security stage"),
              std::string::npos);
}

TEST_F(Login, can_be_cancelled) {
    net::Cancellation cancellation;
    LoginRequestOptions options = good_login();
    options.cancellation = &cancellation;
    reactor_->timers().add(clock_.now() + 20 * kMillisecond, [&cancellation] { cancellation.request(); });
    const Error error = refused([](Wire& wire) { wire.wait_for_end(); }, options);
    EXPECT_EQ(error.code, ECANCELED);
    EXPECT_EQ(error.text, "it was given up");
}

TEST_F(Login, names_the_address_that_does_not_answer) {
    const net::SocketAddress nobody = [] {
        ScriptedPeer peer([](Wire&) {});
        // Its port is free again when it is gone; nobody else is asked for it on this address so soon.
        const UniqueFd once(::socket(AF_INET, SOCK_STREAM, 0));
        ::connect(once.get(), peer.address().get(), peer.address().length);
        return peer.address();
    }();
    const auto session = net::run_until_done(
        *reactor_, iscsi::log_in(*reactor_, std::span(&nobody, 1), good_login(), clock_.now() + kSecond));
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, ECONNREFUSED);
    EXPECT_EQ(session.error().text, "no connection to " + nobody.text() + ": Connection refused");
}

} // namespace
} // namespace mpath::iscsi::test
