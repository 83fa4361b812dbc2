// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/name.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {
namespace {

TEST(CheckName, takes_the_three_forms) {
    for (const std::string& name :
         {std::string("iqn.2001-04.com.example:storage.disk1.sys1.xyz"), "iqn." + std::string(219, 'a'),
          std::string("eui.02004567A425678D"), std::string("naa.52004567BA64678D"),
          std::string("naa.62004567BA64678D0123456789ABCDEF"), std::string("iqn.2003-01.org:My_Disk")}) {
        EXPECT_TRUE(check_name(name)) << name;
    }
}

TEST(CheckName, says_what_is_wrong) {
    const std::string forms =
        " is neither 'iqn.' and a name, nor 'eui.' and 16 hexadecimal digits, nor 'naa.' and "
        "16 or 32 of them";
    const std::string bytes = ", only letters, digits and '-', '.', ':', '_' are allowed";
    const std::pair<std::string, std::string> cases[] = {
        {"", "iSCSI name is empty"},
        {"disk", "iSCSI name 'disk'" + forms},
        {"iqn.", "iSCSI name 'iqn.'" + forms},
        {"eui.02004567A425678", "iSCSI name 'eui.02004567A425678'" + forms},
        {"eui.02004567A425678G", "iSCSI name 'eui.02004567A425678G'" + forms},
        {"naa.02004567A425678D1", "iSCSI name 'naa.02004567A425678D1'" + forms},
        {"iqn.a b", "iSCSI name contains byte 0x20 at position 6" + bytes},
        {"iqn.a/b", "iSCSI name contains byte 0x2f at position 6" + bytes},
        {"iqn.\xc3\xa9", "iSCSI name contains byte 0xc3 at position 5" + bytes},
        {"iqn." + std::string(220, 'a'), "iSCSI name is 224 bytes long, at most 223 are allowed"},
    };
    for (const auto& [name, sentence] : cases) {
        const auto checked = check_name(name);
        ASSERT_FALSE(checked) << name;
        EXPECT_EQ(checked.error().code, EINVAL);
        EXPECT_EQ(checked.error().text, sentence);
    }
}

TEST(InitiatorName, comes_from_the_option_first) {
    EXPECT_EQ(choose_initiator_name({"iqn.option", "InitiatorName=iqn.file", "h"}).value(), "iqn.option");
}

TEST(InitiatorName, comes_from_the_file_without_an_option) {
    const std::string file = "# InitiatorName=iqn.comment\n\n  InitiatorName=iqn.file \n";
    EXPECT_EQ(choose_initiator_name({{}, file, "h"}).value(), "iqn.file");
}

TEST(InitiatorName, is_generated_where_the_file_has_none) {
    for (const std::optional<std::string>& file :
         {std::optional<std::string>(), std::optional<std::string>("GenerateName=yes\n")}) {
        EXPECT_EQ(choose_initiator_name({{}, file, "Host_1.example.org"}).value(),
                  "iqn.2025-01.io.fio-mpath:host-1.example.org");
    }
}

TEST(InitiatorName, is_valid_whatever_the_host_is_called) {
    for (const std::string& host : {std::string(), std::string("\xc3\xa9 /"), std::string(300, 'x')}) {
        EXPECT_TRUE(choose_initiator_name({{}, {}, host})) << host;
    }
    EXPECT_TRUE(initiator_name(nullptr));
}

TEST(InitiatorName, says_which_source_has_a_bad_one) {
    const auto option = choose_initiator_name({"disk", {}, "h"});
    ASSERT_FALSE(option);
    EXPECT_EQ(option.error().text.rfind("initiator=: iSCSI name 'disk'", 0), 0U) << option.error().text;
    const auto file = choose_initiator_name({{}, "InitiatorName=", "h"});
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().text, "/etc/iscsi/initiatorname.iscsi: iSCSI name is empty");
}

TEST(IsidOf, has_the_random_type_the_base_and_the_number) {
    EXPECT_EQ(isid({1, 2, 3}, 0x0405), (Isid{0x80, 1, 2, 3, 4, 5}));
}

TEST(IsidOf, differs_from_process_to_process) {
    EXPECT_NE(random_isid_base(), random_isid_base()); // but for one in 16 million
}

} // namespace
} // namespace mpath::iscsi
