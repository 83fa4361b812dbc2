// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "initiator.h"
#include "target/iscsi/login_status.h"

namespace mpath::target::scsi {
namespace {

using iscsi::LoginStage;

LoginStatus status_of(const std::optional<Pdu>& pdu) {
    EXPECT_TRUE(pdu);
    const auto answer = pdu ? pdu->as<iscsi::LoginResponse>() : iscsi::LoginResponse{};
    return static_cast<LoginStatus>(answer.status_class << 8 | answer.status_detail);
}

std::string value_of(const Pdu& pdu, std::string_view key) {
    const auto keys = pdu.keys();
    const std::string* value = find_key(keys, key);
    return value == nullptr ? "-" : *value;
}

TEST(TargetIscsiLogin, LeadsToASession) {
    Bench bench;
    Initiator initiator(bench);
    const auto answer =
        initiator.login_step(LoginStage::operational, LoginStage::full_feature, initiator.names());
    ASSERT_EQ(status_of(answer), login_status::kSuccess);
    const auto header = answer->as<iscsi::LoginResponse>();
    EXPECT_EQ(header.flags, iscsi::login_flag::kTransit |
                                iscsi::login_stages(LoginStage::operational, LoginStage::full_feature));
    EXPECT_NE(header.tsih, 0);
    EXPECT_EQ(header.isid, initiator.isid);
    EXPECT_EQ(header.exp_cmd_sn, initiator.cmd_sn);
    EXPECT_EQ(value_of(*answer, "TargetPortalGroupTag"), "1");
    EXPECT_EQ(bench.node->sessions_of(bench.a), 1U);
    EXPECT_EQ(bench.a.counters.associations, 1U);
}

TEST(TargetIscsiLogin, HasASecurityStageIfTheInitiatorWantsOne) {
    Bench bench;
    Initiator initiator(bench);
    Keys keys = initiator.names();
    keys.emplace_back("AuthMethod", "CHAP,None");
    const auto first = initiator.login_step(LoginStage::security, LoginStage::operational, keys);
    ASSERT_EQ(status_of(first), login_status::kSuccess);
    EXPECT_EQ(value_of(*first, "AuthMethod"), "None");
    EXPECT_EQ(value_of(*first, "TargetPortalGroupTag"), "1");
    const auto second = initiator.login_step(LoginStage::operational, LoginStage::full_feature, {});
    ASSERT_EQ(status_of(second), login_status::kSuccess);
    EXPECT_NE(second->as<iscsi::LoginResponse>().tsih, 0);
}

TEST(TargetIscsiLogin, StaysInAStageUntilAskedToGoOn) {
    Bench bench;
    Initiator initiator(bench);
    auto answer = initiator.login_step(LoginStage::operational, std::nullopt, initiator.names());
    ASSERT_EQ(status_of(answer), login_status::kSuccess);
    EXPECT_EQ(answer->as<iscsi::LoginResponse>().flags & iscsi::login_flag::kTransit, 0);
    EXPECT_EQ(bench.node->sessions_of(bench.a), 0U);
    answer =
        initiator.login_step(LoginStage::operational, LoginStage::full_feature, {{"MaxBurstLength", "4096"}});
    EXPECT_EQ(value_of(*answer, "MaxBurstLength"), "4096");
    EXPECT_EQ(bench.node->sessions_of(bench.a), 1U);
}

TEST(TargetIscsiLogin, TakesTextInSeveralRequests) {
    Bench bench;
    Initiator initiator(bench);
    iscsi::LoginRequest request;
    request.flags =
        iscsi::login_flag::kContinue | iscsi::login_stages(LoginStage::operational, LoginStage::security);
    request.isid = initiator.isid;
    const std::string half = "InitiatorNa";
    initiator.send_pdu(request, std::as_bytes(std::span(half)));
    const auto first = initiator.receive();
    ASSERT_EQ(status_of(first), login_status::kSuccess);
    EXPECT_TRUE(first->data.empty());
    request.flags =
        iscsi::login_flag::kTransit | iscsi::login_stages(LoginStage::operational, LoginStage::full_feature);
    std::string rest = "me=iqn.2025-01.io.test:x";
    rest += '\0';
    append_key(rest, "TargetName", IscsiOptions().name);
    initiator.send_pdu(request, std::as_bytes(std::span(rest)));
    EXPECT_EQ(status_of(initiator.receive()), login_status::kSuccess);
    EXPECT_EQ(bench.node->sessions_of(bench.a), 1U);
}

TEST(TargetIscsiLogin, NegotiatesEveryKeyByItsRule) {
    struct Row {
        const char* key;
        const char* offer;
        const char* answer;
    };
    constexpr Row kRows[] = {
        {"MaxBurstLength", "16776192", "1048576"},
        {"MaxBurstLength", "8192", "8192"},
        {"FirstBurstLength", "16776192", "262144"},
        {"MaxOutstandingR2T", "8", "1"},
        {"InitialR2T", "No", "No"},
        {"InitialR2T", "Yes", "Yes"},
        {"ImmediateData", "No", "No"},
        {"ImmediateData", "Yes", "Yes"},
        {"MaxConnections", "4", "1"},
        {"ErrorRecoveryLevel", "2", "0"},
        {"DefaultTime2Wait", "2", "2"},
        {"DefaultTime2Retain", "20", "0"},
        {"DataPDUInOrder", "No", "Yes"},
        {"DataSequenceInOrder", "No", "Yes"},
        {"HeaderDigest", "CRC32C,None", "CRC32C"},
        {"HeaderDigest", "None,CRC32C", "None"},
        {"DataDigest", "SHA,CRC32C", "CRC32C"},
        {"DataDigest", "SHA", "Reject"},
        {"OFMarker", "Yes", "No"},
        {"IFMarkInt", "2048~8192", "Irrelevant"},
        {"TaskReporting", "FastAbort,RFC3720", "RFC3720"},
        {"MaxBurstLength", "much", "Reject"},
        {"MaxBurstLength", "100", "Reject"},
        {"InitialR2T", "maybe", "Reject"},
        {"X-com.example.key", "1", "NotUnderstood"},
        {"MaxRecvDataSegmentLength", "65536", "262144"}, // ours: each says its own
    };
    for (const Row& row : kRows) {
        Bench bench;
        Initiator initiator(bench);
        Keys keys = initiator.names();
        keys.emplace_back(row.key, row.offer);
        const auto answer = initiator.login_step(LoginStage::operational, LoginStage::full_feature, keys);
        ASSERT_EQ(status_of(answer), login_status::kSuccess) << row.key;
        EXPECT_EQ(value_of(*answer, row.key), row.answer) << row.key << "=" << row.offer;
    }
}

TEST(TargetIscsiLogin, KeepsItsLimits) {
    Options options = Bench::small();
    options.iscsi.max_burst = 4096;
    options.iscsi.first_burst = 1024;
    options.iscsi.max_receive = 2048;
    options.iscsi.initial_r2t = true;
    options.iscsi.immediate_data = false;
    options.max_r2t = 3;
    Bench bench(options);
    Initiator initiator(bench);
    Keys keys = initiator.names();
    for (const auto& [key, value] : Keys{{"MaxBurstLength", "262144"},
                                         {"FirstBurstLength", "65536"},
                                         {"InitialR2T", "No"},
                                         {"ImmediateData", "Yes"},
                                         {"MaxOutstandingR2T", "16"}}) {
        keys.emplace_back(key, value);
    }
    const auto answer = initiator.login_step(LoginStage::operational, LoginStage::full_feature, keys);
    ASSERT_TRUE(answer);
    EXPECT_EQ(value_of(*answer, "MaxBurstLength"), "4096");
    EXPECT_EQ(value_of(*answer, "FirstBurstLength"), "1024");
    EXPECT_EQ(value_of(*answer, "InitialR2T"), "Yes");
    EXPECT_EQ(value_of(*answer, "ImmediateData"), "No");
    EXPECT_EQ(value_of(*answer, "MaxOutstandingR2T"), "3");
    EXPECT_EQ(value_of(*answer, "MaxRecvDataSegmentLength"), "2048");
}

TEST(TargetIscsiLogin, CanRefuseAndForceDigests) {
    for (const auto& [rule, expected] :
         {std::pair(Digests::refused, "None"), std::pair(Digests::forced, "CRC32C")}) {
        Options options = Bench::small();
        options.digests = rule;
        Bench bench(options);
        Initiator initiator(bench);
        Keys keys = initiator.names();
        keys.emplace_back("HeaderDigest", rule == Digests::refused ? "CRC32C" : "None");
        const auto answer = initiator.login_step(LoginStage::operational, LoginStage::full_feature, keys);
        ASSERT_TRUE(answer);
        EXPECT_EQ(value_of(*answer, "HeaderDigest"), expected);
    }
}

TEST(TargetIscsiLogin, SaysWhyItRefuses) {
    struct Row {
        LoginStatus status;
        void (*spoil)(iscsi::LoginRequest&, Keys&);
    };
    const Row rows[] = {
        {login_status::kMissingParameter, [](auto&, Keys& keys) { keys.erase(keys.begin()); }},
        {login_status::kMissingParameter, [](auto&, Keys& keys) { keys.pop_back(); }},
        {login_status::kNotFound,
         [](auto&, Keys& keys) { keys.back().second = "iqn.2025-01.io.test:other"; }},
        {login_status::kSessionTypeNotSupported, [](auto&, Keys& keys) { keys[1].second = "Strange"; }},
        {login_status::kUnsupportedVersion, [](auto& request, Keys&) { request.version_min = 1; }},
        {login_status::kNoSuchSession, [](auto& request, Keys&) { request.tsih = 77; }},
        {login_status::kInitiatorError,
         [](auto& request, Keys&) { request.flags |= iscsi::login_flag::kContinue; }},
        {login_status::kInitiatorError,
         [](auto& request, Keys&) {
             request.flags = iscsi::login_flag::kTransit |
                             iscsi::login_stages(LoginStage::operational, LoginStage::security);
         }},
        {login_status::kInitiatorError,
         [](auto& request, Keys&) {
             request.flags = iscsi::login_stages(LoginStage::full_feature, LoginStage::full_feature);
         }},
        {login_status::kInitiatorError,
         [](auto&, Keys& keys) { keys.emplace_back("MaxRecvDataSegmentLength", "1"); }},
        {login_status::kInitiatorError, [](auto&, Keys& keys) { keys.emplace_back("", "x"); }},
    };
    for (const Row& row : rows) {
        Bench bench;
        Initiator initiator(bench);
        iscsi::LoginRequest request;
        request.flags = iscsi::login_flag::kTransit |
                        iscsi::login_stages(LoginStage::operational, LoginStage::full_feature);
        request.isid = initiator.isid;
        Keys keys = initiator.names();
        row.spoil(request, keys);
        std::string text;
        for (const auto& [key, value] : keys) {
            append_key(text, key, value);
        }
        initiator.send_pdu(request, std::as_bytes(std::span(text)));
        EXPECT_EQ(status_of(initiator.receive()), row.status) << &row - rows;
        EXPECT_TRUE(initiator.ended());
        EXPECT_EQ(bench.node->sessions_of(bench.a), 0U);
    }
}

TEST(TargetIscsiLogin, CanBeTurnedAwayByAScript) {
    Bench bench;
    bench.play("on a reject-connects target-removed count 1");
    Initiator refused(bench);
    EXPECT_EQ(
        status_of(refused.login_step(LoginStage::operational, LoginStage::full_feature, refused.names())),
        login_status::kTargetRemoved);
    Initiator taken(bench);
    taken.log_in();
    bench.play("on a reject-connects");
    Initiator busy(bench);
    EXPECT_EQ(status_of(busy.login_step(LoginStage::operational, LoginStage::full_feature, busy.names())),
              login_status::kServiceUnavailable);
}

TEST(TargetIscsiLogin, TakesThePlaceOfTheSameInitiatorPortsOlderSession) {
    Bench bench;
    Initiator older(bench);
    older.log_in();
    Initiator elsewhere(bench, bench.b);
    elsewhere.log_in();
    Initiator other(bench);
    other.isid[5] = 2;
    other.log_in();
    EXPECT_EQ(bench.node->sessions_of(bench.a), 2U);
    Initiator newer(bench);
    newer.log_in();
    EXPECT_TRUE(older.ended());
    EXPECT_FALSE(other.ended());
    EXPECT_FALSE(elsewhere.ended()) << "another portal group";
    EXPECT_EQ(bench.node->sessions_of(bench.a), 2U);
}

} // namespace
} // namespace mpath::target::scsi
