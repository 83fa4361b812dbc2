// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/send_targets.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {

void PrintTo(const Portal& portal, std::ostream* out) {
    *out << portal.address() << ',' << (portal.tag ? std::to_string(*portal.tag) : "-");
}

namespace {

using namespace std::string_literals;

TEST(ParsePortal, reads_every_form) {
    const std::pair<std::string, Portal> cases[] = {
        {"192.0.2.7:3261,2", {"192.0.2.7", 3261, std::uint16_t{2}}},
        {"192.0.2.7,65535", {"192.0.2.7", 3260, std::uint16_t{65535}}},
        {"192.0.2.7", {"192.0.2.7", 3260, {}}},
        {"array.example.org:3260,1", {"array.example.org", 3260, std::uint16_t{1}}},
        {"[2001:db8::7]:3260,1", {"2001:db8::7", 3260, std::uint16_t{1}}},
        {"[2001:db8::7],1", {"2001:db8::7", 3260, std::uint16_t{1}}},
    };
    for (const auto& [text, expected] : cases) {
        const auto portal = parse_portal(text);
        ASSERT_TRUE(portal) << portal.error().text;
        EXPECT_EQ(*portal, expected) << text;
    }
}

TEST(ParsePortal, refuses_what_is_no_address) {
    for (const std::string& text :
         {std::string(), std::string(",1"), std::string("h:0,1"), std::string("h:3260,"),
          std::string("h:3260,65536"), std::string("h:3260,1,2"), std::string("h h:1,1"), std::string("[::1"),
          std::string("\xc3\xa9:1,1"), std::string(300, 'h')}) {
        const auto portal = parse_portal(text);
        ASSERT_FALSE(portal) << text;
        EXPECT_EQ(portal.error().code, EPROTO);
    }
    EXPECT_EQ(parse_portal("h:0,1").error().text,
              "the target broke the protocol: TargetAddress=h:0,1 is no address");
}

TEST(SendTargets, lists_targets_and_their_portals) {
    const auto targets = parse_send_targets("TargetName=iqn.a\0TargetAddress=192.0.2.1:3260,1\0"
                                            "TargetAddress=[::1]:3261,2\0TargetName=iqn.b\0"s);
    ASSERT_TRUE(targets) << targets.error().text;
    const std::vector<DiscoveredTarget> expected = {
        {"iqn.a", {{"192.0.2.1", 3260, std::uint16_t{1}}, {"::1", 3261, std::uint16_t{2}}}}, {"iqn.b", {}}};
    EXPECT_EQ(*targets, expected);
}

TEST(SendTargets, lists_each_once) {
    const auto targets = parse_send_targets("TargetName=iqn.a\0TargetAddress=h:1,1\0TargetAddress=h:1,1\0"
                                            "TargetName=iqn.b\0TargetName=iqn.a\0TargetAddress=h:2,1\0"s);
    ASSERT_TRUE(targets) << targets.error().text;
    ASSERT_EQ(targets->size(), 2U);
    EXPECT_EQ((*targets)[0].portals.size(), 2U);
}

TEST(SendTargets, may_list_nothing_and_passes_over_other_keys) {
    EXPECT_TRUE(parse_send_targets("").value().empty());
    EXPECT_EQ(parse_send_targets("TargetName=iqn.a\0TargetAlias=disk\0X-a=b\0"s).value().size(), 1U);
}

TEST(SendTargets, refuses_what_breaks_a_rule) {
    const std::pair<std::string, std::string> cases[] = {
        {"TargetAddress=h:1,1\0"s, "the target broke the protocol: TargetAddress=h:1,1 is of no target"},
        {"TargetName=\0"s, "the target broke the protocol: TargetName=: iSCSI name is empty"},
        {"TargetName=iqn.a\0TargetAddress=h:x,1\0"s,
         "the target broke the protocol: TargetAddress=h:x,1 is no address"},
        {"TargetName\0"s, "the target broke the protocol: its text has the key TargetName without a value"},
        {"SendTargets=Reject\0"s, "the target does not answer SendTargets: Reject"},
    };
    for (const auto& [text, sentence] : cases) {
        const auto targets = parse_send_targets(text);
        ASSERT_FALSE(targets) << sentence;
        EXPECT_EQ(targets.error().text, sentence);
    }
}

} // namespace
} // namespace mpath::iscsi
