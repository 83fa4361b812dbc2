// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/chap.h"

#include <gtest/gtest.h>

#include "initiator.h"
#include "target/iscsi/login_status.h"

namespace mpath::target::scsi {
namespace {

using iscsi::LoginStage;

constexpr const char* kSecret = "twelve bytes";
constexpr const char* kOwnSecret = "another twelve";

Options demanding(bool mutual = true) {
    Options options = Bench::small();
    options.iscsi.chap.user = "me";
    options.iscsi.chap.secret = kSecret;
    options.iscsi.chap.own_user = "target";
    options.iscsi.chap.own_secret = mutual ? kOwnSecret : "";
    return options;
}

std::string hex(std::string_view bytes) {
    return hexadecimal({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

struct Proof {
    const char* algorithms = "5";
    const char* method = "CHAP";
    const char* user = "me";
    const char* secret = kSecret;
    std::string challenge{}; ///< for the target; "same": its own one
};

/// What the last answer was.
std::optional<Pdu> authenticate(Initiator& initiator, const Proof& proof) {
    Keys keys = initiator.names();
    keys.emplace_back("AuthMethod", proof.method);
    auto answer = initiator.login_step(LoginStage::security, LoginStage::operational, keys);
    if (!answer || answer->as<iscsi::LoginResponse>().status_class != 0) {
        return answer;
    }
    EXPECT_EQ(answer->as<iscsi::LoginResponse>().flags & iscsi::login_flag::kTransit, 0);
    answer = initiator.login_step(LoginStage::security, std::nullopt, {{"CHAP_A", proof.algorithms}});
    if (!answer || answer->as<iscsi::LoginResponse>().status_class != 0) {
        return answer;
    }
    const auto offered = answer->keys();
    const int algorithm = std::stoi(*find_key(offered, "CHAP_A"));
    const auto identifier = static_cast<std::uint8_t>(std::stoi(*find_key(offered, "CHAP_I")));
    const std::string challenge = *parse_binary(*find_key(offered, "CHAP_C"));
    Keys proven = {{"CHAP_N", proof.user},
                   {"CHAP_R", hex(*chap_response(algorithm, identifier, proof.secret, challenge))}};
    if (!proof.challenge.empty()) {
        proven.emplace_back("CHAP_I", "7");
        proven.emplace_back("CHAP_C", hex(proof.challenge == "same" ? challenge : proof.challenge));
    }
    return initiator.login_step(LoginStage::security, LoginStage::operational, proven);
}

LoginStatus chap_status(const std::optional<Pdu>& pdu) {
    EXPECT_TRUE(pdu);
    const auto answer = pdu ? pdu->as<iscsi::LoginResponse>() : iscsi::LoginResponse{};
    return static_cast<LoginStatus>(answer.status_class << 8 | answer.status_detail);
}

TEST(TargetIscsiChap, ComputesWhatTheStandardsSay) {
    // Identifier, secret and challenge in this order.
    EXPECT_EQ(hex(*chap_response(5, 'a', "b", "c")), "0x900150983cd24fb0d6963f7d28e17f72");
    EXPECT_EQ(hex(*chap_response(7, 'a', "b", "c")),
              "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_FALSE(chap_response(6, 'a', "b", "c"));
}

TEST(TargetIscsiChap, LetsInWhoKnowsTheSecret) {
    for (const char* algorithms : {"5", "7", "6,7,5"}) {
        Bench bench(demanding());
        Initiator initiator(bench);
        const auto answer = authenticate(initiator, {.algorithms = algorithms});
        ASSERT_EQ(chap_status(answer), login_status::kSuccess) << algorithms;
        EXPECT_NE(answer->as<iscsi::LoginResponse>().flags & iscsi::login_flag::kTransit, 0);
        EXPECT_EQ(chap_status(initiator.login_step(LoginStage::operational, LoginStage::full_feature, {})),
                  login_status::kSuccess);
        EXPECT_EQ(bench.node->sessions_of(bench.a), 1U);
    }
}

TEST(TargetIscsiChap, ProvesToBeItself) {
    Bench bench(demanding());
    Initiator initiator(bench);
    const auto answer = authenticate(initiator, {.challenge = "prove it"});
    ASSERT_EQ(chap_status(answer), login_status::kSuccess);
    const auto keys = answer->keys();
    EXPECT_EQ(*find_key(keys, "CHAP_N"), "target");
    EXPECT_EQ(*find_key(keys, "CHAP_R"), hex(*chap_response(5, 7, kOwnSecret, "prove it")));
}

TEST(TargetIscsiChap, TurnsAwayEverybodyElse) {
    const Proof proofs[] = {
        {.secret = "a wrong one"}, {.user = "somebody"},   {.algorithms = "6,8"},
        {.method = "None"},        {.method = "KRB5,SRP"}, {.challenge = "same"},
    };
    for (const Proof& proof : proofs) {
        Bench bench(demanding());
        Initiator initiator(bench);
        EXPECT_EQ(chap_status(authenticate(initiator, proof)), login_status::kAuthenticationFailure)
            << &proof - proofs;
        EXPECT_TRUE(initiator.ended());
    }
}

TEST(TargetIscsiChap, CannotBeGoneRound) {
    Bench bench(demanding());
    Initiator operational(bench);
    EXPECT_EQ(chap_status(operational.login_step(LoginStage::operational, LoginStage::full_feature,
                                                 operational.names())),
              login_status::kAuthenticationFailure);
    Initiator silent(bench);
    EXPECT_EQ(chap_status(silent.login_step(LoginStage::security, LoginStage::full_feature, silent.names())),
              login_status::kAuthenticationFailure);
    Initiator discovering(bench);
    discovering.log_in({}, true);
    EXPECT_FALSE(discovering.ended()) << "whom a list of portals tells nothing secret";
}

TEST(TargetIscsiChap, ProvesNothingWithoutASecretOfItsOwn) {
    Bench bench(demanding(false));
    Initiator initiator(bench);
    EXPECT_EQ(chap_status(authenticate(initiator, {.challenge = "prove it"})),
              login_status::kAuthenticationFailure);
}

TEST(TargetIscsiChap, IsNotOfferedToOthersWhenNobodyNeedsIt) {
    Bench bench;
    Initiator initiator(bench);
    Keys keys = initiator.names();
    keys.emplace_back("AuthMethod", "CHAP");
    EXPECT_EQ(chap_status(initiator.login_step(LoginStage::security, LoginStage::operational, keys)),
              login_status::kAuthenticationFailure);
}

} // namespace
} // namespace mpath::target::scsi
