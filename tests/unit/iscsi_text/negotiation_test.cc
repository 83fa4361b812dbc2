// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/negotiation.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {
namespace {

using namespace std::string_literals;
using Pairs = std::vector<KeyValue>;

constexpr Offer kFourR2ts{.max_outstanding_r2t = 4};
constexpr Offer kBothDigests{.header_digest = true, .data_digest = true};

Result<SessionParameters> agreed(const Offer& offer, const Pairs& pairs) {
    Negotiation negotiation(offer);
    if (const auto taken = negotiation.take(pairs); !taken) {
        return tl::unexpected(taken.error());
    }
    return negotiation.finish();
}

std::string refusal(const Offer& offer, const Pairs& pairs) {
    const auto parameters = agreed(offer, pairs);
    return parameters ? "taken" : parameters.error().text;
}

TEST(OperationalKeys, are_all_said_at_once) {
    EXPECT_EQ(Negotiation(kFourR2ts).offer(),
              "HeaderDigest=None\0DataDigest=None\0MaxRecvDataSegmentLength=262144\0InitialR2T=No\0"
              "ImmediateData=Yes\0MaxBurstLength=16776192\0FirstBurstLength=16776192\0MaxOutstandingR2T=4\0"
              "MaxConnections=1\0DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0DefaultTime2Wait=0\0"
              "DefaultTime2Retain=0\0ErrorRecoveryLevel=0\0"s);
}

TEST(OperationalKeys, are_few_in_a_discovery_session) {
    EXPECT_EQ(Negotiation({.discovery = true}).offer(),
              "HeaderDigest=None\0DataDigest=None\0MaxRecvDataSegmentLength=262144\0DefaultTime2Wait=0\0"
              "DefaultTime2Retain=0\0ErrorRecoveryLevel=0\0"s);
}

TEST(Agreement, is_what_the_target_answers) {
    const auto parameters = agreed(kFourR2ts, {{"HeaderDigest", "None"},
                                               {"DataDigest", "None"},
                                               {"MaxRecvDataSegmentLength", "0x10000"},
                                               {"InitialR2T", "No"},
                                               {"ImmediateData", "Yes"},
                                               {"MaxBurstLength", "1048576"},
                                               {"FirstBurstLength", "524288"},
                                               {"MaxOutstandingR2T", "2"},
                                               {"MaxConnections", "1"},
                                               {"DataPDUInOrder", "Yes"},
                                               {"DataSequenceInOrder", "Yes"},
                                               {"DefaultTime2Wait", "1"},
                                               {"DefaultTime2Retain", "0"},
                                               {"ErrorRecoveryLevel", "0"}});
    ASSERT_TRUE(parameters) << parameters.error().text;
    SessionParameters expected;
    expected.max_send_data = 65536;
    expected.max_receive_data = kMaxReceiveData;
    expected.max_burst = 1048576;
    expected.first_burst = 524288;
    expected.max_outstanding_r2t = 2;
    expected.initial_r2t = false;
    expected.time2wait = 1;
    expected.time2retain = 0;
    EXPECT_EQ(*parameters, expected);
}

TEST(Agreement, is_the_standards_default_where_the_target_says_nothing) {
    SessionParameters expected;
    expected.max_receive_data = kMaxReceiveData;
    EXPECT_EQ(agreed(kFourR2ts, {}).value(), expected);
}

TEST(Agreement, is_the_standards_default_where_the_target_has_no_value) {
    SessionParameters expected;
    expected.max_receive_data = kMaxReceiveData;
    for (const char* value : {"NotUnderstood", "Irrelevant", "Reject"}) {
        Pairs pairs;
        for (const char* key :
             {"InitialR2T", "ImmediateData", "MaxBurstLength", "FirstBurstLength", "MaxOutstandingR2T",
              "MaxConnections", "DataPDUInOrder", "DataSequenceInOrder", "DefaultTime2Wait",
              "DefaultTime2Retain", "ErrorRecoveryLevel"}) {
            pairs.push_back({key, value});
        }
        EXPECT_EQ(agreed(kFourR2ts, pairs).value(), expected) << value;
    }
}

TEST(Agreement, is_on_both_digests_or_one) {
    const auto both = agreed(kBothDigests, {{"HeaderDigest", "CRC32C"}, {"DataDigest", "CRC32C"}});
    ASSERT_TRUE(both) << both.error().text;
    EXPECT_TRUE(both->header_digest && both->data_digest);
    const auto one = agreed({.data_digest = true}, {{"HeaderDigest", "None"}, {"DataDigest", "CRC32C"}});
    ASSERT_TRUE(one) << one.error().text;
    EXPECT_TRUE(!one->header_digest && one->data_digest);
}

TEST(FirstBurst, is_never_longer_than_a_burst) {
    EXPECT_EQ(agreed(kFourR2ts, {{"MaxBurstLength", "4096"}})->first_burst, 4096U);
}

TEST(Digests, that_were_asked_for_are_had_or_it_is_an_error) {
    const std::string sentence =
        "the target does not do DataDigest=CRC32C, which was asked for: enable it at the "
        "target, or do without (data_digest)";
    for (const char* value : {"None", "Reject", "NotUnderstood"}) {
        EXPECT_EQ(refusal({.data_digest = true}, {{"DataDigest", value}}), sentence) << value;
    }
    EXPECT_EQ(refusal({.data_digest = true}, {}), sentence);
}

TEST(Digests, that_the_target_demands_are_named) {
    for (const char* value : {"CRC32C", "Reject"}) {
        EXPECT_EQ(refusal({}, {{"HeaderDigest", value}}),
                  "the target demands a HeaderDigest: ask for it with hdr_digest=1");
    }
}

TEST(Answers, that_are_none_are_refused) {
    const std::string broke = "the target broke the protocol: ";
    const std::pair<KeyValue, std::string> cases[] = {
        {{"MaxBurstLength", "16777215"}, "is no answer to MaxBurstLength=16776192"},
        {{"MaxBurstLength", "511"}, "is no number from 512 to 16777215"},
        {{"FirstBurstLength", ""}, "is no number from 512 to 16777215"},
        {{"MaxRecvDataSegmentLength", "0"}, "is no number from 512 to 16777215"},
        {{"MaxRecvDataSegmentLength", "Reject"}, "is no number from 512 to 16777215"},
        {{"MaxOutstandingR2T", "5"}, "is no answer to MaxOutstandingR2T=4"},
        {{"MaxOutstandingR2T", "0"}, "is no number from 1 to 65535"},
        {{"MaxConnections", "2"}, "is no answer to MaxConnections=1"},
        {{"ErrorRecoveryLevel", "1"}, "is no answer to ErrorRecoveryLevel=0"},
        {{"DefaultTime2Retain", "20"}, "is no answer to DefaultTime2Retain=0"},
        {{"DefaultTime2Wait", "3601"}, "is no number from 0 to 3600"},
        {{"DataPDUInOrder", "No"}, "is no answer to DataPDUInOrder=Yes"},
        {{"DataSequenceInOrder", "No"}, "is no answer to DataSequenceInOrder=Yes"},
        {{"InitialR2T", "yes"}, "is neither Yes nor No"},
        {{"ImmediateData", "1"}, "is neither Yes nor No"},
        {{"HeaderDigest", "CRC32"}, "is neither CRC32C nor None"},
        {{"TargetPortalGroupTag", "65536"}, "is no number from 0 to 65535"},
    };
    for (const auto& [pair, why] : cases) {
        EXPECT_EQ(refusal(kFourR2ts, {pair}), broke + pair.key + "=" + pair.value + " " + why);
    }
    EXPECT_EQ(refusal(kFourR2ts, {{"InitialR2T", "Yes"}, {"InitialR2T", "Yes"}}),
              broke + "InitialR2T=Yes is its second answer to one offer");
}

TEST(Declarations, of_the_target_are_kept) {
    Negotiation negotiation(kFourR2ts);
    ASSERT_TRUE(negotiation.take(Pairs{{"TargetAlias", "big\xc3\xa9"}, {"TargetPortalGroupTag", "0x101"}}));
    EXPECT_EQ(negotiation.portal_group(), 0x101);
    EXPECT_EQ(negotiation.target_alias(), "big??");
    EXPECT_EQ(negotiation.take_answers(), "");
}

TEST(OffersOfTheTarget, are_answered_once) {
    Negotiation negotiation(kFourR2ts);
    ASSERT_TRUE(negotiation.take(Pairs{{"IFMarker", "Yes"},
                                       {"OFMarker", "No"},
                                       {"TaskReporting", "FastAbort,RFC3720"},
                                       {"X-com.example.speed", "9"},
                                       {"iSCSIProtocolLevel", "2"}}));
    EXPECT_EQ(negotiation.take_answers(),
              "IFMarker=No\0OFMarker=No\0TaskReporting=RFC3720\0"
              "X-com.example.speed=NotUnderstood\0iSCSIProtocolLevel=NotUnderstood\0"s);
    EXPECT_EQ(negotiation.take_answers(), "");
}

TEST(OffersOfTheTarget, that_mean_nothing_in_discovery_are_irrelevant) {
    Negotiation negotiation({.discovery = true});
    ASSERT_TRUE(negotiation.take(Pairs{{"MaxBurstLength", "8192"}}));
    EXPECT_EQ(negotiation.take_answers(), "MaxBurstLength=Irrelevant\0"s);
}

TEST(OffersOfTheTarget, are_not_its_answers_and_remarks) {
    Negotiation negotiation(kFourR2ts);
    ASSERT_TRUE(negotiation.take(Pairs{{"AuthMethod", "None"},
                                       {"CHAP_N", "it"},
                                       {"TargetAddress", "[::1]:3260,1"},
                                       {"X-a", "NotUnderstood"}}));
    EXPECT_EQ(negotiation.take_answers(), "");
}

} // namespace
} // namespace mpath::iscsi
