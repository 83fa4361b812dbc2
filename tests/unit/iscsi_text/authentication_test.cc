// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/authentication.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {
namespace {

using namespace std::string_literals;
using Pairs = std::vector<KeyValue>;

const ChapCredentials kOneWay{"me", "our secret", ""};
const ChapCredentials kBothWays{"me", "our secret", "its secret"};

/// CHAP as the target does it, to check it the other way round.
std::string proof(ChapAlgorithm algorithm, std::uint8_t identifier, const std::string& secret,
                  std::string_view challenge) {
    return binary_text(chap_response(algorithm, identifier, secret, parse_binary(challenge).value()).value());
}

Pairs said_by_us(const std::string& text) {
    return parse_pairs(text, 16).value();
}

Error refusal_of(Authentication& authentication, const Pairs& pairs) {
    const auto next = authentication.take(pairs);
    return next ? Error{0, "taken"} : next.error();
}

TEST(WithoutCredentials, nothing_is_proven) {
    Authentication authentication({}, true);
    EXPECT_EQ(authentication.offer(), "AuthMethod=None\0"s);
    EXPECT_TRUE(authentication.may_end());
    EXPECT_EQ(authentication.take(Pairs{{"AuthMethod", "None"}}).value(), "");
    EXPECT_EQ(authentication.state(), AuthenticationState::done);
    EXPECT_TRUE(authentication.check_end());
    EXPECT_FALSE(authentication.proven());
}

TEST(WithoutCredentials, a_target_need_not_mention_the_method) {
    Authentication authentication({}, true);
    EXPECT_EQ(authentication.take(Pairs{{"TargetPortalGroupTag", "1"}}).value(), "");
    EXPECT_TRUE(authentication.check_end());
}

TEST(WithoutCredentials, a_target_that_wants_proof_is_named_so) {
    Authentication authentication({}, true);
    const Error error = refusal_of(authentication, {{"AuthMethod", "Reject"}});
    EXPECT_EQ(error.code, EACCES);
    EXPECT_EQ(error.text, "the target demands authentication: give it chap_user and chap_secret_file");
}

class ChapWith : public testing::TestWithParam<ChapAlgorithm> {};

TEST_P(ChapWith, proves_who_we_are) {
    Authentication authentication(kOneWay, true);
    EXPECT_EQ(authentication.offer(), "AuthMethod=CHAP,None\0"s);
    EXPECT_EQ(authentication.take(Pairs{{"AuthMethod", "CHAP"}}).value(), "CHAP_A=8,6,5,7\0"s);
    EXPECT_FALSE(authentication.may_end());
    const std::string number = std::to_string(static_cast<unsigned>(GetParam()));
    const auto text =
        authentication.take(Pairs{{"CHAP_A", number}, {"CHAP_I", "0x7f"}, {"CHAP_C", "0bYWJjZGVm"}});
    ASSERT_TRUE(text) << text.error().text;
    EXPECT_EQ(said_by_us(*text),
              (Pairs{{"CHAP_N", "me"}, {"CHAP_R", proof(GetParam(), 0x7f, "our secret", "0x616263646566")}}));
    EXPECT_TRUE(authentication.may_end());
    EXPECT_EQ(authentication.take(Pairs{}).value(), "");
    EXPECT_TRUE(authentication.check_end());
    EXPECT_TRUE(authentication.proven());
}

TEST_P(ChapWith, has_the_target_prove_who_it_is) {
    Authentication authentication(kBothWays, true);
    EXPECT_EQ(authentication.offer(), "AuthMethod=CHAP\0"s);
    authentication.take(Pairs{{"AuthMethod", "CHAP"}}).value();
    const std::string number = std::to_string(static_cast<unsigned>(GetParam()));
    const Pairs ours = said_by_us(
        authentication.take(Pairs{{"CHAP_A", number}, {"CHAP_I", "255"}, {"CHAP_C", "0x616263"}}).value());
    const auto identifier = parse_number(find_value(ours, "CHAP_I").value(), 255).value();
    const std::string challenge(find_value(ours, "CHAP_C").value());
    EXPECT_NE(identifier, 255U);
    const std::string answer =
        proof(GetParam(), static_cast<std::uint8_t>(identifier), "its secret", challenge);
    EXPECT_FALSE(authentication.check_end()) << "not yet";
    ASSERT_TRUE(authentication.take(Pairs{{"CHAP_N", "it"}, {"CHAP_R", answer}}));
    EXPECT_TRUE(authentication.check_end());
    EXPECT_TRUE(authentication.proven());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ChapWith,
                         testing::Values(ChapAlgorithm::md5, ChapAlgorithm::sha1, ChapAlgorithm::sha256,
                                         ChapAlgorithm::sha3_256));

TEST(Chap, may_be_left_out_by_a_target_that_needs_no_proof) {
    Authentication authentication(kOneWay, true);
    EXPECT_TRUE(authentication.take(Pairs{{"AuthMethod", "None"}}));
    EXPECT_TRUE(authentication.check_end());
    EXPECT_FALSE(authentication.proven());
}

TEST(ChapBothWays, may_be_left_out_where_the_target_need_not_prove_itself) {
    Authentication authentication(kBothWays, false); // a discovery session
    EXPECT_EQ(authentication.offer(), "AuthMethod=CHAP,None\0"s);
    EXPECT_TRUE(authentication.take(Pairs{{"AuthMethod", "None"}}));
    EXPECT_TRUE(authentication.check_end());
}

TEST(ChapBothWays, is_demanded_of_a_target_that_would_rather_not) {
    for (const char* method : {"None", "Reject"}) {
        Authentication authentication(kBothWays, true);
        EXPECT_EQ(refusal_of(authentication, {{"AuthMethod", method}}).code, EACCES);
    }
    Authentication silent(kBothWays, true);
    EXPECT_TRUE(silent.take(Pairs{}));
    EXPECT_EQ(silent.check_end().error().code, EACCES);
}

TEST(Chap, refuses_a_method_that_was_not_offered) {
    Authentication authentication({}, true);
    const Error error = refusal_of(authentication, {{"AuthMethod", "CHAP"}});
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_EQ(error.text, "the target broke the protocol: it chose AuthMethod=CHAP, which was not offered");
}

TEST(Chap, refuses_a_challenge_that_is_none) {
    const std::pair<Pairs, std::string> cases[] = {
        {{{"CHAP_A", "Reject"}}, "the target does none of the CHAP algorithms 8,6,5,7"},
        {{}, "the target broke the protocol: it chose no algorithm of those that CHAP_A offered"},
        {{{"CHAP_A", "4"}},
         "the target broke the protocol: it chose no algorithm of those that CHAP_A offered"},
        {{{"CHAP_A", "05"}},
         "the target broke the protocol: it chose no algorithm of those that CHAP_A offered"},
        {{{"CHAP_A", "5"}, {"CHAP_C", "0x61"}},
         "the target broke the protocol: its CHAP_I is no number from 0 to 255"},
        {{{"CHAP_A", "5"}, {"CHAP_I", "256"}, {"CHAP_C", "0x61"}},
         "the target broke the protocol: its CHAP_I is no number from 0 to 255"},
        {{{"CHAP_A", "5"}, {"CHAP_I", "1"}},
         "the target broke the protocol: its CHAP_C is no challenge of 1 to 1024 bytes"},
        {{{"CHAP_A", "5"}, {"CHAP_I", "1"}, {"CHAP_C", "abc"}},
         "the target broke the protocol: its CHAP_C is no challenge of 1 to 1024 bytes"},
    };
    for (const auto& [pairs, sentence] : cases) {
        Authentication authentication(kOneWay, true);
        authentication.take(Pairs{{"AuthMethod", "CHAP"}}).value();
        EXPECT_EQ(refusal_of(authentication, pairs).text, sentence);
    }
}

class ProofOfTheTarget : public testing::Test {
protected:
    ProofOfTheTarget() {
        authentication_.take(Pairs{{"AuthMethod", "CHAP"}}).value();
        ours_ = said_by_us(
            authentication_.take(Pairs{{"CHAP_A", "5"}, {"CHAP_I", "1"}, {"CHAP_C", "0x616263"}}).value());
    }
    Authentication authentication_{kBothWays, true};
    Pairs ours_;
};

TEST_F(ProofOfTheTarget, is_refused_with_another_secret) {
    const std::string wrong = proof(ChapAlgorithm::md5, 2, "no secret", find_value(ours_, "CHAP_C").value());
    const Error error = refusal_of(authentication_, {{"CHAP_R", wrong}});
    EXPECT_EQ(error.code, EACCES);
    EXPECT_EQ(error.text, "the target did not prove who it is: it has another secret than the second line of "
                          "chap_secret_file");
}

TEST_F(ProofOfTheTarget, is_refused_when_it_is_our_own) {
    const Error error =
        refusal_of(authentication_, {{"CHAP_R", std::string(find_value(ours_, "CHAP_R").value())}});
    EXPECT_EQ(error.code, EACCES);
    EXPECT_EQ(error.text, "the target sent our own CHAP response back, which proves nothing");
}

TEST_F(ProofOfTheTarget, can_t_be_made_by_having_us_answer_our_own_challenge) {
    // As an attacker would, on a second connection.
    Authentication other(kBothWays, true);
    other.take(Pairs{{"AuthMethod", "CHAP"}}).value();
    const Pairs reflected =
        said_by_us(other
                       .take(Pairs{{"CHAP_A", "5"},
                                   {"CHAP_I", std::string(find_value(ours_, "CHAP_I").value())},
                                   {"CHAP_C", std::string(find_value(ours_, "CHAP_C").value())}})
                       .value());
    const Error error =
        refusal_of(authentication_, {{"CHAP_R", std::string(find_value(reflected, "CHAP_R").value())}});
    EXPECT_EQ(error.code, EACCES);
}

TEST_F(ProofOfTheTarget, is_refused_when_it_is_no_binary_value) {
    EXPECT_EQ(refusal_of(authentication_, {{"CHAP_R", "yes"}}).text,
              "the target broke the protocol: its CHAP_R is no response of 1 to 1024 bytes");
}

TEST_F(ProofOfTheTarget, must_come_before_the_stage_ends) {
    EXPECT_TRUE(authentication_.take(Pairs{}));
    EXPECT_EQ(authentication_.check_end().error().text, "the target let us in, but did not prove who it is, "
                                                        "as the second line of chap_secret_file asks of it");
}

TEST(Chap, is_not_over_before_the_challenge) {
    Authentication authentication(kOneWay, true);
    authentication.take(Pairs{{"AuthMethod", "CHAP"}}).value();
    EXPECT_EQ(authentication.check_end().error().code, EPROTO);
}

} // namespace
} // namespace mpath::iscsi
