// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/discovery.h"

#include <string>

#include "tests/unit/iscsi_text/login_fixture.h"

namespace mpath::iscsi::test {
namespace {

using namespace std::string_literals;

class Discovery : public Login {
protected:
    Result<TargetDiscovery> discover(const ScriptedPeer::Script& script, const std::string& target = "") {
        SessionOptions options;
        options.initiator_name = good_login().initiator_name;
        ScriptedPeer peer(script);
        peer_text_ = peer.address().text();
        return net::run_until_done(*reactor_, discover_targets(*reactor_, std::span(&peer.address(), 1),
                                                               options, target, clock_.now() + 10 * kSecond));
    }
    Error refused_discovery(const ScriptedPeer::Script& script) {
        const auto found = discover(script);
        Error error = found ? Error{0, "answered"} : found.error();
        if (error.text.starts_with(peer_text_ + ": ")) {
            error.text.erase(0, peer_text_.size() + 2);
        }
        return error;
    }
};

Text text_response(const Text& request, std::uint8_t flags, std::uint32_t target_tag, std::uint32_t stat_sn) {
    Text answer;
    answer.opcode = static_cast<std::uint8_t>(Opcode::text_response);
    answer.flags = flags;
    answer.task_tag = request.task_tag;
    answer.target_tag = target_tag;
    answer.cmd_sn = stat_sn;
    answer.exp_stat_sn = request.cmd_sn + 1;
    answer.max_cmd_sn = request.cmd_sn + 10;
    return answer;
}

/// A target that answers SendTargets with `text`, and a logout.
ScriptedPeer::Script answering(const std::string& text) {
    return [text](Wire& wire) {
        LoginPeer target(wire);
        target.log_in();
        const auto [request, question] = receive_pdu<Text>(wire);
        send_pdu(wire, text_response(request, kFinal, kNoTag, target.stat_sn), text);
        const auto logout = wire.receive<LogoutRequest>();
        LogoutResponse bye;
        bye.task_tag = logout.task_tag;
        wire.send_value(bye);
        wire.wait_for_end();
    };
}

TEST_F(Discovery, asks_for_all_targets_and_logs_out) {
    Text request;
    std::string question;
    LogoutRequest logout;
    const auto found = discover([&](Wire& wire) {
        LoginPeer target(wire);
        target.log_in();
        std::tie(request, question) = receive_pdu<Text>(wire);
        send_pdu(wire, text_response(request, kFinal, kNoTag, target.stat_sn),
                 "TargetName=iqn.a\0TargetAddress=192.0.2.1:3260,1\0TargetAddress=[2001:DB8:0::7]:3261,2\0"s);
        logout = wire.receive<LogoutRequest>();
        LogoutResponse bye;
        bye.task_tag = logout.task_tag;
        wire.send_value(bye);
        wire.wait_for_end();
    });
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->address, peer_text_);
    EXPECT_EQ(
        found->targets,
        (std::vector<DiscoveredTarget>{
            {"iqn.a", {{"192.0.2.1", 3260, std::uint16_t{1}}, {"2001:db8::7", 3261, std::uint16_t{2}}}}}));
    EXPECT_EQ(request.opcode, 0x04);
    EXPECT_EQ(request.flags, kFinal);
    EXPECT_EQ(request.target_tag, kNoTag);
    EXPECT_EQ(question, "SendTargets=All\0"s);
    EXPECT_EQ(logout.reason, kFinal | logout_reason::kCloseSession);
    EXPECT_EQ(logout.cmd_sn, request.cmd_sn + 1);
}

TEST_F(Discovery, can_ask_for_one_target) {
    std::string question;
    const auto found = discover(
        [&question](Wire& wire) {
            LoginPeer target(wire);
            target.log_in();
            const auto [request, text] = receive_pdu<Text>(wire);
            question = text;
            send_pdu(wire, text_response(request, kFinal, kNoTag, target.stat_sn), "");
        },
        "iqn.a");
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(question, "SendTargets=iqn.a\0"s);
    EXPECT_TRUE(found->targets.empty());
}

TEST_F(Discovery, takes_the_portal_asked_for_a_target_without_address) {
    const auto found = discover(answering("TargetName=iqn.a\0"s));
    ASSERT_TRUE(found) << found.error().text;
    ASSERT_EQ(found->targets.size(), 1U);
    ASSERT_EQ(found->targets[0].portals.size(), 1U);
    EXPECT_EQ(found->targets[0].portals[0].address(), peer_text_);
    EXPECT_FALSE(found->targets[0].portals[0].tag);
}

TEST_F(Discovery, gathers_an_answer_of_several_responses) {
    std::vector<Text> requests;
    const auto found = discover([&requests](Wire& wire) {
        LoginPeer target(wire);
        target.log_in();
        const std::string pieces[] = {"TargetName=iq", "n.a\0TargetName="s, "iqn.b\0"s};
        for (std::size_t i = 0; i < std::size(pieces); ++i) {
            const bool last = i + 1 == std::size(pieces);
            requests.push_back(receive_pdu<Text>(wire).first);
            Text answer = text_response(requests.back(), last ? kFinal : text_flag::kContinue,
                                        last ? kNoTag : 0x77, target.stat_sn++);
            answer.lun[1] = 5;
            send_pdu(wire, answer, pieces[i]);
        }
    });
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->targets.size(), 2U);
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_EQ(requests[0].target_tag, kNoTag);
    EXPECT_EQ(requests[1].target_tag, 0x77U);
    EXPECT_EQ(requests[1].lun, (Lun{0, 5}));
    EXPECT_EQ(requests[1].data_length, 0U);
    EXPECT_EQ(requests[1].task_tag, requests[0].task_tag);
    EXPECT_EQ(requests[2].cmd_sn, requests[0].cmd_sn + 2);
    EXPECT_EQ(requests[2].exp_stat_sn, requests[0].exp_stat_sn + 2);
}

TEST_F(Discovery, answers_a_ping_meanwhile) {
    NopOut pong;
    const auto found = discover([&pong](Wire& wire) {
        LoginPeer target(wire);
        target.log_in();
        const auto [request, question] = receive_pdu<Text>(wire);
        NopIn ping;
        ping.lun[1] = 3;
        ping.target_tag = 0x88;
        wire.send_value(ping);
        pong = wire.receive<NopOut>();
        wire.send_value(NopIn{}); // asks for nothing
        send_pdu(wire, text_response(request, kFinal, kNoTag, target.stat_sn), "");
    });
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(pong.target_tag, 0x88U);
    EXPECT_EQ(pong.task_tag, kNoTag);
    EXPECT_EQ(pong.lun, (Lun{0, 3}));
}

TEST_F(Discovery, succeeds_even_when_the_logout_is_not_answered) {
    const auto found = discover([](Wire& wire) {
        LoginPeer target(wire);
        target.log_in();
        const auto [request, question] = receive_pdu<Text>(wire);
        send_pdu(wire, text_response(request, kFinal, kNoTag, target.stat_sn), "TargetName=iqn.a\0"s);
    });
    EXPECT_TRUE(found) << found.error().text;
}

TEST_F(Discovery, names_what_the_target_does_instead_of_answering) {
    AsyncMessage logout_request;
    logout_request.event = async_event::kLogoutRequest;
    Reject reject;
    reject.reason = reject_reason::kCommandNotSupported;
    R2t foreign;
    Text endless;
    endless.opcode = static_cast<std::uint8_t>(Opcode::text_response);
    endless.flags = 0;
    endless.task_tag = 1;
    Text huge = endless;
    huge.data_length = 0xffffff;
    const std::pair<Bhs, std::string> cases[] = {
        {std::bit_cast<Bhs>(logout_request), "the target ends the discovery session (asynchronous event 1)"},
        {std::bit_cast<Bhs>(reject),
         "the target rejects the question for its targets: command not supported (reason 05h)"},
        {std::bit_cast<Bhs>(foreign),
         "the target broke the protocol: a PDU of type 31h in a discovery session"},
        {std::bit_cast<Bhs>(endless),
         "the target broke the protocol: its answer goes on, but has no tag to ask for the rest"},
        {std::bit_cast<Bhs>(huge),
         "the target broke the protocol: a PDU of type 24h has 16777215 bytes of data"},
    };
    for (const auto& [pdu, sentence] : cases) {
        EXPECT_EQ(refused_discovery([&sent = pdu](Wire& wire) {
                      LoginPeer target(wire);
                      target.log_in();
                      receive_pdu<Text>(wire);
                      wire.send_value(sent);
                      wire.wait_for_end();
                  }).text,
                  sentence);
    }
}

TEST_F(Discovery, refuses_an_answer_that_breaks_a_rule) {
    EXPECT_EQ(refused_discovery(answering("TargetAddress=h:1,1\0"s)).text,
              "the target broke the protocol: TargetAddress=h:1,1 is of no target");
}

TEST_F(Discovery, says_when_the_target_goes_away) {
    EXPECT_EQ(refused_discovery([](Wire& wire) {
                  LoginPeer target(wire);
                  target.log_in();
                  receive_pdu<Text>(wire);
              }).text,
              "the connection ended (closed by the peer) before the target had answered SendTargets");
}

} // namespace
} // namespace mpath::iscsi::test
