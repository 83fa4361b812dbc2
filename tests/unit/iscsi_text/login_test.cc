// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login.h"

#include <sys/socket.h>

#include <string>

#include <gmock/gmock.h>

#include "iscsi/chap.h"
#include "iscsi/negotiation.h"
#include "tests/unit/iscsi_text/login_fixture.h"

namespace mpath::iscsi::test {
namespace {

using testing::Contains;
using testing::IsEmpty;

TEST_F(Login, goes_through_both_stages) {
    LoginRequest first;
    LoginRequest second;
    Pairs names;
    const auto session = log_in(good_login(), [&](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        first = target.request;
        names = target.pairs;
        target.answer(kSecurityToOperational, {{"TargetPortalGroupTag", "3"}, {"AuthMethod", "None"}});
        target.receive();
        second = target.request;
        target.answer(kOperationalToFull, {{"MaxRecvDataSegmentLength", "65536"}, {"TargetAlias", "disk"}});
        wire.wait_for_end();
    });
    ASSERT_TRUE(session) << session.error().text;

    EXPECT_EQ(first.opcode, 0x43);
    EXPECT_EQ(first.flags, kSecurityToOperational);
    EXPECT_EQ(first.isid, good_login().isid);
    EXPECT_EQ(first.tsih, 0);
    EXPECT_EQ(names, (Pairs{{"InitiatorName", good_login().initiator_name},
                            {"TargetName", good_login().target_name},
                            {"SessionType", "Normal"},
                            {"AuthMethod", "None"}}));
    EXPECT_EQ(second.flags, kOperationalToFull);
    EXPECT_EQ(second.task_tag, first.task_tag);
    EXPECT_EQ(second.cmd_sn, first.cmd_sn) << "login requests are immediate";
    EXPECT_EQ(second.exp_stat_sn, 0x1001U);

    EXPECT_EQ(session->tsih, 0x1234);
    EXPECT_EQ(session->isid, good_login().isid);
    EXPECT_EQ(session->portal_group, 3);
    EXPECT_EQ(session->target_alias, "disk");
    EXPECT_EQ(session->parameters.max_send_data, 65536U);
    EXPECT_EQ(session->numbers.cmd_sn, first.cmd_sn);
    EXPECT_EQ(session->numbers.exp_stat_sn, 0x1002U);
    EXPECT_EQ(session->numbers.max_cmd_sn, first.cmd_sn + 31);
    EXPECT_FALSE(session->authenticated);
    EXPECT_EQ(session->address, peer_text_);
    EXPECT_EQ(session->local_address, net::local_address(session->socket.get()));
}

TEST_F(Login, takes_no_byte_behind_the_last_response) {
    const auto session = log_in(good_login(), [](Wire& wire) {
        LoginPeer target(wire);
        target.let_in();
        std::string bytes(sizeof(LoginResponse), '\0');
        const LoginResponse last = target.response(kOperationalToFull);
        std::memcpy(bytes.data(), &last, sizeof last);
        wire.send(bytes + "first of the session");
        wire.wait_for_end();
    });
    ASSERT_TRUE(session) << session.error().text;
    std::array<char, 64> rest{};
    const ssize_t got = ::recv(session->socket.get(), rest.data(), rest.size(), 0);
    EXPECT_EQ(std::string(rest.data(), static_cast<std::size_t>(got)), "first of the session");
}

TEST_F(Login, of_a_discovery_session_names_no_target_and_asks_for_no_digests) {
    LoginRequestOptions options = good_login();
    options.type = SessionType::discovery;
    options.header_digest = true;
    Pairs names;
    Pairs offer;
    const auto session = log_in(options, [&](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        names = target.pairs;
        target.answer(kSecurityToOperational, {{"AuthMethod", "None"}});
        target.receive();
        offer = target.pairs;
        target.answer(kOperationalToFull);
    });
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_EQ(find_value(names, "SessionType"), "Discovery");
    EXPECT_FALSE(find_value(names, "TargetName"));
    EXPECT_EQ(find_value(offer, "HeaderDigest"), "None");
    EXPECT_FALSE(find_value(offer, "InitialR2T"));
}

TEST_F(Login, asks_again_as_long_as_the_target_stays_in_a_stage) {
    std::vector<std::uint8_t> flags;
    std::vector<std::string> texts;
    const auto session = log_in(good_login(), [&](Wire& wire) {
        LoginPeer target(wire);
        const std::pair<std::uint8_t, Pairs> answers[] = {
            {kStaySecurity, {{"AuthMethod", "None"}}},
            {kSecurityToOperational, {}},
            {kStayOperational, {{"IFMarker", "No"}, {"X-a", "1"}}},
            {kStayOperational, {{"MaxBurstLength", "8192"}}},
            {kOperationalToFull, {}}};
        for (const auto& [answer, pairs] : answers) {
            target.receive();
            flags.push_back(target.request.flags);
            texts.push_back(target.text);
            target.answer(answer, pairs);
        }
    });
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_EQ(session->parameters.max_burst, 8192U);
    EXPECT_EQ(flags, (std::vector<std::uint8_t>{kSecurityToOperational, kSecurityToOperational,
                                                kOperationalToFull, kOperationalToFull, kOperationalToFull}));
    EXPECT_THAT(texts[1], IsEmpty());
    EXPECT_EQ(texts[3], text_of({{"IFMarker", "No"}, {"X-a", "NotUnderstood"}}));
    EXPECT_THAT(texts[4], IsEmpty());
}

TEST_F(Login, gathers_an_answer_of_several_responses) {
    std::vector<std::string> texts;
    const auto session = log_in(good_login(), [&](Wire& wire) {
        LoginPeer target(wire);
        target.let_in();
        // A key and its value in different PDUs.
        for (const char* piece : {"", "MaxBurst", "Length=819", "2"}) {
            send_pdu(wire, target.response(kStayOperational | login_flag::kContinue), piece);
            target.receive();
            texts.push_back(target.text);
            EXPECT_EQ(target.request.flags, kStayOperational);
        }
        send_pdu(wire, target.response(kStayOperational), std::string("\0FirstBurstLength=4096\0", 23));
        target.receive();
        target.answer(kOperationalToFull);
    });
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_EQ(session->parameters.max_burst, 8192U);
    EXPECT_EQ(session->parameters.first_burst, 4096U);
    EXPECT_THAT(texts, testing::Each(IsEmpty()));
}

TEST_F(Login, says_a_long_text_in_several_requests) {
    Pairs offers; // each is answered NotUnderstood
    for (int i = 0; i < 120; ++i) {
        offers.push_back({fmt::format("X-{:061}", i), "1"});
    }
    std::string said;
    int requests = 0;
    const auto session = log_in(good_login(), [&](Wire& wire) {
        LoginPeer target(wire);
        target.let_in();
        target.answer(kStayOperational, offers);
        do {
            target.receive();
            said += target.text;
            ++requests;
            if ((target.request.flags & login_flag::kContinue) != 0) {
                EXPECT_EQ(target.request.flags, kStayOperational | login_flag::kContinue);
                target.answer(kStayOperational);
            }
        } while ((target.request.flags & login_flag::kContinue) != 0);
        EXPECT_EQ(target.request.flags, kOperationalToFull);
        target.answer(kOperationalToFull);
    });
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_EQ(requests, 2);
    EXPECT_EQ(parse_pairs(said, 256).value().size(), offers.size());
}

/// A target that wants proof of who we are, and proves in turn who it is with `its_secret` if it is asked.
ScriptedPeer::Script with_chap(const std::string& its_secret) {
    return [its_secret](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        target.answer(kStaySecurity, {{"AuthMethod", "CHAP"}});
        target.receive();
        EXPECT_EQ(target.request.flags, kStaySecurity) << "the challenge is still to come";
        target.answer(kStaySecurity, {{"CHAP_A", "7"}, {"CHAP_I", "9"}, {"CHAP_C", "0x0102030405060708"}});
        target.receive();
        EXPECT_EQ(target.request.flags, kSecurityToOperational);
        const auto challenge = parse_binary("0x0102030405060708").value();
        EXPECT_THAT(target.pairs, Contains(KeyValue{"CHAP_N", "me"}));
        EXPECT_EQ(find_value(target.pairs, "CHAP_R"),
                  binary_text(chap_response(ChapAlgorithm::sha256, 9, "our secret", challenge).value()));
        Pairs answer;
        if (const auto asked = find_value(target.pairs, "CHAP_C")) {
            const auto identifier = parse_number(find_value(target.pairs, "CHAP_I").value(), 255).value();
            answer = {{"CHAP_N", "it"},
                      {"CHAP_R",
                       binary_text(chap_response(ChapAlgorithm::sha256, static_cast<std::uint8_t>(identifier),
                                                 its_secret, parse_binary(*asked).value())
                                       .value())}};
        }
        target.answer(kSecurityToOperational, answer);
        target.receive();
        target.answer(kOperationalToFull);
        wire.wait_for_end();
    };
}

TEST_F(Login, proves_who_we_are_by_chap) {
    LoginRequestOptions options = good_login();
    options.chap = {"me", "our secret", ""};
    const auto session = log_in(options, with_chap(""));
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_TRUE(session->authenticated);
}

TEST_F(Login, has_the_target_prove_who_it_is) {
    LoginRequestOptions options = good_login();
    options.chap = {"me", "our secret", "its secret"};
    const auto session = log_in(options, with_chap("its secret"));
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_TRUE(session->authenticated);
}

TEST_F(Login, fails_at_a_target_that_can_t) {
    LoginRequestOptions options = good_login();
    options.chap = {"me", "our secret", "its secret"};
    const Error error = refused(with_chap("another"), options);
    EXPECT_EQ(error.code, EACCES);
    EXPECT_EQ(error.text.find("secret\""), std::string::npos);
}

TEST_F(Login, follows_a_redirection) {
    ScriptedPeer there([](Wire& wire) {
        LoginPeer target(wire);
        target.log_in();
        wire.wait_for_end();
    });
    const auto session = log_in(good_login(), [&there](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        target.refuse(1, 1, {{"TargetAddress", there.address().text() + ",1"}});
        wire.wait_for_end();
    });
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_EQ(session->address, there.address().text());
}

TEST_F(Login, says_where_it_was_sent_to_when_it_fails_there) {
    ScriptedPeer there([](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        target.refuse(3, 1);
    });
    const auto session = log_in(good_login(), [&there](Wire& wire) {
        LoginPeer target(wire);
        target.receive();
        target.refuse(1, 2, {{"TargetAddress", there.address().text()}});
    });
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, EBUSY);
    EXPECT_EQ(
        session.error().text,
        fmt::format("{} sends us to {}: {}: the target is there, but can't serve us now (login status 0301h)",
                    peer_text_, there.address().text(), there.address().text()));
}

TEST_F(Login, follows_no_redirection_without_an_address_or_by_name) {
    const std::pair<Pairs, std::string> cases[] = {
        {{}, "the target has moved, but does not say where to"},
        {{{"TargetAddress", "h:x"}}, "the target broke the protocol: TargetAddress=h:x is no address"},
        {{{"TargetAddress", "array.example.org,1"}},
         "the target has moved to array.example.org:3260, but only numeric addresses are followed: name that "
         "one in "
         "the path"},
    };
    for (const auto& [pairs, sentence] : cases) {
        EXPECT_EQ(refused([&said = pairs](Wire& wire) {
                      LoginPeer target(wire);
                      target.receive();
                      target.refuse(1, 1, said);
                  }).text,
                  sentence);
    }
}

} // namespace
} // namespace mpath::iscsi::test
