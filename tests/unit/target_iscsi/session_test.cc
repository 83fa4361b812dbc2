// SPDX-License-Identifier: GPL-2.0-only
// What a session has beside commands: discovery, NOPs, asynchronous messages, logout.
#include <gtest/gtest.h>

#include "initiator.h"

namespace mpath::target::scsi {
namespace {

namespace op = iscsi::scsi_opcode;

std::optional<Pdu> ask(Initiator& initiator, std::string_view text,
                       std::uint32_t target_tag = iscsi::kNoTag) {
    iscsi::Text request;
    request.task_tag = initiator.next_tag++;
    request.target_tag = target_tag;
    request.cmd_sn = initiator.cmd_sn++;
    std::string bytes(text);
    bytes += text.empty() ? "" : std::string(1, '\0');
    initiator.send_pdu(request, std::as_bytes(std::span(bytes)));
    return initiator.receive();
}

TEST(TargetIscsiDiscovery, NamesEveryPortalWithItsGroup) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in({}, true);
    const auto answer = ask(initiator, "SendTargets=All");
    ASSERT_TRUE(answer && answer->opcode() == iscsi::Opcode::text_response);
    EXPECT_EQ(answer->keys(), (KeyValues{{"TargetName", IscsiOptions().name},
                                         {"TargetAddress", "127.0.0.1:3260,1"},
                                         {"TargetAddress", "127.0.0.2:3260,2"}}));
    EXPECT_EQ(answer->as<iscsi::Text>().target_tag, iscsi::kNoTag);
    EXPECT_TRUE(ask(initiator, "SendTargets=iqn.2025-01.io.test:none")->keys().empty());
    EXPECT_EQ(bench.a.counters.discoveries, 1U);
    EXPECT_EQ(bench.a.counters.associations, 0U);
}

TEST(TargetIscsiDiscovery, IsNotForCommands) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in({}, true);
    initiator.command(cdb({op::kTestUnitReady}));
    EXPECT_EQ(initiator.receive()->opcode(), iscsi::Opcode::reject);
    EXPECT_TRUE(initiator.ended());
}

TEST(TargetIscsiDiscovery, TellsANormalSessionOfItsOwnTarget) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    EXPECT_EQ(ask(initiator, "SendTargets=")->keys().size(), 3U);
    EXPECT_EQ(ask(initiator, "SendTargets=All")->keys(), (KeyValues{{"SendTargets", "Reject"}}));
    EXPECT_EQ(ask(initiator, "X-what=1")->keys(), (KeyValues{{"X-what", "NotUnderstood"}}));
}

TEST(TargetIscsiDiscovery, GivesLongAnswersPieceByPiece) {
    Bench bench;
    std::vector<std::unique_ptr<Listener>> more;
    for (int i = 0; i < 30; ++i) {
        auto& portal = more.emplace_back(std::make_unique<Listener>());
        portal->address = "127.0.0.3:" + std::to_string(3260 + i);
        bench.node->add_portal(*portal);
    }
    Initiator initiator(bench);
    initiator.log_in({{"MaxRecvDataSegmentLength", "512"}}, true);
    auto answer = ask(initiator, "SendTargets=All");
    std::string text = answer->text();
    while (answer->as<iscsi::Text>().target_tag != iscsi::kNoTag) {
        EXPECT_EQ(answer->header.flags, iscsi::text_flag::kContinue);
        answer = ask(initiator, "", answer->as<iscsi::Text>().target_tag);
        ASSERT_TRUE(answer);
        text += answer->text();
    }
    EXPECT_EQ(parse_text(text)->size(), 33U);
    EXPECT_EQ(ask(initiator, "", 1)->opcode(), iscsi::Opcode::reject) << "nothing is left";
}

TEST(TargetIscsiNop, EchoesWhatItWasSent) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    iscsi::NopOut ping;
    ping.task_tag = 42;
    ping.cmd_sn = initiator.cmd_sn;
    const Bytes data = pattern(101);
    initiator.send_pdu(ping, data);
    const auto answer = initiator.receive();
    ASSERT_TRUE(answer && answer->opcode() == iscsi::Opcode::nop_in);
    EXPECT_EQ(answer->as<iscsi::NopIn>().task_tag, 42U);
    EXPECT_EQ(answer->data, data);
    ping.task_tag = iscsi::kNoTag;
    initiator.send_pdu(ping);
    EXPECT_FALSE(initiator.receive()) << "an answer has none";
}

TEST(TargetIscsiNop, IsSentWhenAScriptSaysSo) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    bench.play("on a ping");
    const auto question = initiator.receive();
    ASSERT_TRUE(question && question->opcode() == iscsi::Opcode::nop_in);
    EXPECT_EQ(question->as<iscsi::NopIn>().task_tag, iscsi::kNoTag);
    EXPECT_NE(question->as<iscsi::NopIn>().target_tag, iscsi::kNoTag);
}

TEST(TargetIscsiNumbers, CountAnswersOnce) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    const auto stat_sn_of = [&] {
        initiator.command(cdb({op::kTestUnitReady}));
        return initiator.receive()->as<iscsi::ScsiResponse>().stat_sn.get();
    };
    const std::uint32_t first = stat_sn_of();
    bench.play("on a ping");
    EXPECT_EQ(initiator.receive()->as<iscsi::NopIn>().stat_sn, first + 1)
        << "the next one, which it does not take";
    EXPECT_EQ(stat_sn_of(), first + 1);
    initiator.command(blocks_cdb(op::kRead16, 0, 1), 512, iscsi::command_flag::kRead);
    EXPECT_EQ(initiator.receive()->as<iscsi::DataIn>().stat_sn, first + 2);
    EXPECT_EQ(stat_sn_of(), first + 3);
}

TEST(TargetIscsiLogout, IsAnsweredAndCloses) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    iscsi::LogoutRequest request;
    request.task_tag = 5;
    request.cmd_sn = initiator.cmd_sn;
    request.reason = iscsi::kFinal | iscsi::logout_reason::kRecovery;
    initiator.send_pdu(request);
    EXPECT_EQ(initiator.receive()->as<iscsi::LogoutResponse>().response, 2) << "recovery is not supported";
    request.reason = iscsi::kFinal | iscsi::logout_reason::kCloseSession;
    initiator.send_pdu(request);
    const auto answer = initiator.receive();
    ASSERT_TRUE(answer && answer->opcode() == iscsi::Opcode::logout_response);
    EXPECT_EQ(answer->as<iscsi::LogoutResponse>().response, 0);
    EXPECT_TRUE(initiator.ended());
    EXPECT_EQ(bench.a.counters.logouts, 1U);
}

TEST(TargetIscsiLogout, IsAskedForAndTakenIfItDoesNotCome) {
    Bench bench;
    Initiator initiator(bench);
    initiator.log_in();
    bench.play("on a async logout 2s");
    const auto message = initiator.receive();
    ASSERT_TRUE(message && message->opcode() == iscsi::Opcode::async_message);
    EXPECT_EQ(message->as<iscsi::AsyncMessage>().event, iscsi::async_event::kLogoutRequest);
    EXPECT_EQ(message->as<iscsi::AsyncMessage>().parameter3, 2);
    EXPECT_TRUE(initiator.run(cdb({op::kTestUnitReady})).good()) << "until then all is well";
    bench.wait(3 * kSecond);
    EXPECT_TRUE(initiator.ended());
    EXPECT_EQ(bench.a.counters.dropped, 1U);
    EXPECT_EQ(bench.a.counters.events, 1U);
}

} // namespace
} // namespace mpath::target::scsi
