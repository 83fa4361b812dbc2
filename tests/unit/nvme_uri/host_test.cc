// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/host.h"

#include <string>

#include <gtest/gtest.h>

namespace mpath::nvme {
namespace {

// Named for where they stand in the tests, so that an expectation says where a name came from.
const std::string option_id_value = "11111111-1111-4111-8111-111111111111";
const std::string file_id_value = "22222222-2222-4222-8222-222222222222";
const std::string generated_id_value = "33333333-3333-4333-8333-333333333333";
const std::string id_in_option_nqn = "44444444-4444-4444-8444-444444444444";
const std::string id_in_file_nqn = "55555555-5555-4555-8555-555555555555";
const std::string id_in_generated_nqn = "66666666-6666-4666-8666-666666666666";

std::string uuid_nqn(const std::string& uuid) {
    return "nqn.2014-08.org.nvmexpress:uuid:" + uuid;
}

HostNames generated_only() {
    HostNames names;
    names.generated_nqn = uuid_nqn(id_in_generated_nqn);
    names.generated_id = generated_id_value;
    return names;
}

TEST(HostIdentity, is_generated_without_options_and_files) {
    const HostIdentity host = choose_host_identity(generated_only()).value();
    EXPECT_EQ(host.nqn, uuid_nqn(id_in_generated_nqn));
    EXPECT_EQ(host.id_text(), id_in_generated_nqn);
}

TEST(HostIdentity, comes_from_the_files_without_options) {
    HostNames names = generated_only();
    names.file_nqn = uuid_nqn(id_in_file_nqn);
    names.file_id = file_id_value;
    const HostIdentity host = choose_host_identity(names).value();
    EXPECT_EQ(host.nqn, uuid_nqn(id_in_file_nqn));
    EXPECT_EQ(host.id_text(), file_id_value);
}

TEST(HostIdentity, takes_the_identifier_from_the_nqn_when_its_file_is_missing) {
    HostNames names = generated_only();
    names.file_nqn = uuid_nqn(id_in_file_nqn);
    EXPECT_EQ(choose_host_identity(names).value().id_text(), id_in_file_nqn);
}

TEST(HostIdentity, comes_from_the_options_first) {
    HostNames names = generated_only();
    names.option_nqn = uuid_nqn(id_in_option_nqn);
    names.option_id = option_id_value;
    names.file_nqn = uuid_nqn(id_in_file_nqn);
    names.file_id = file_id_value;
    const HostIdentity host = choose_host_identity(names).value();
    EXPECT_EQ(host.nqn, uuid_nqn(id_in_option_nqn));
    EXPECT_EQ(host.id_text(), option_id_value);
}

TEST(HostIdentity, takes_the_identifier_out_of_the_options_nqn_rather_than_from_the_file) {
    HostNames names = generated_only();
    names.option_nqn = uuid_nqn(id_in_option_nqn);
    names.file_id = file_id_value;
    EXPECT_EQ(choose_host_identity(names).value().id_text(), id_in_option_nqn);
}

TEST(HostIdentity, takes_the_identifier_from_the_file_for_an_nqn_without_one) {
    HostNames names = generated_only();
    names.option_nqn = "nqn.2014-08.org.example:host";
    names.file_id = file_id_value;
    EXPECT_EQ(choose_host_identity(names).value().id_text(), file_id_value);
}

TEST(HostIdentity, generates_the_identifier_when_there_is_none_anywhere) {
    HostNames names = generated_only();
    names.option_nqn = "nqn.2014-08.org.example:host";
    EXPECT_EQ(choose_host_identity(names).value().id_text(), generated_id_value);
}

TEST(HostIdentity, keeps_the_identifier_in_the_order_a_uuid_is_written) {
    HostNames names = generated_only();
    names.option_id = "01020304-0506-0708-090a-0b0c0d0e0f10";
    const auto id = choose_host_identity(names).value().id;
    for (std::size_t i = 0; i < id.size(); ++i) {
        EXPECT_EQ(id[i], i + 1);
    }
}

struct BadHost {
    std::optional<std::string> option_nqn;
    std::optional<std::string> option_id;
    std::string sentence;
};

TEST(HostIdentity, says_which_source_has_a_bad_name) {
    const BadHost cases[] = {
        {"host", {}, "hostnqn=: NQN 'host' does not begin with 'nqn.' and a name"},
        {{}, "1234", "hostid=: '1234' is not a UUID, which a host identifier is written as"},
        {{},
         "00000000-0000-0000-0000-000000000000",
         "hostid=: a host identifier of all zeros is not allowed"},
        {uuid_nqn("oops"), {}, "hostnqn=: 'oops' is not a UUID, which a host identifier is written as"},
    };
    for (const BadHost& bad : cases) {
        HostNames names = generated_only();
        names.option_nqn = bad.option_nqn;
        names.option_id = bad.option_id;
        const auto host = choose_host_identity(names);
        ASSERT_FALSE(host) << bad.sentence;
        EXPECT_EQ(host.error().code, EINVAL);
        EXPECT_EQ(host.error().text, bad.sentence);
    }
}

TEST(HostIdentity, says_when_a_file_has_a_bad_name) {
    HostNames names = generated_only();
    names.file_nqn = "host";
    const auto host = choose_host_identity(names);
    ASSERT_FALSE(host);
    EXPECT_EQ(host.error().text, "/etc/nvme/hostnqn: NQN 'host' does not begin with 'nqn.' and a name");
}

TEST(HostIdentity, is_the_same_for_every_job_of_a_process) {
    const auto first = host_identity(nullptr, nullptr);
    const auto second = host_identity(nullptr, nullptr);
    ASSERT_TRUE(first) << first.error().text;
    EXPECT_EQ(*first, *second);
}

} // namespace
} // namespace mpath::nvme
