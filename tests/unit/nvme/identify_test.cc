// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/identify.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/identify_data.h"

namespace mpath::nvme {
namespace {

using test::good_controller;
using test::good_namespace;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// CAP with pages of 4 KiB and nothing else that matters here.
constexpr Capabilities kPages4k{};

ControllerIdentity identity_of(const IdentifyController& data, Capabilities capabilities = kPages4k) {
    auto identity = decode_controller(data, capabilities);
    EXPECT_TRUE(identity) << identity.error().text;
    return identity ? *identity : ControllerIdentity{};
}

DeviceLimits limits_of(const IdentifyNamespace& data, const ControllerIdentity& controller = {}) {
    auto facts = decode_namespace(data, 1, controller);
    EXPECT_TRUE(facts) << facts.error().text;
    return facts ? facts->limits : DeviceLimits{};
}

// ---- controller

TEST(IdentifyController, texts_lose_their_padding) {
    IdentifyController data = good_controller();
    std::memcpy(data.model.data(), "Example Array  \x01                        ", 40);
    const ControllerIdentity identity = identity_of(data);
    EXPECT_EQ(identity.model.model, "Example Array  ?");
    EXPECT_EQ(identity.model.serial, "S123");
    EXPECT_EQ(identity.model.firmware, "9.1");
}

TEST(IdentifyController, mdts_counts_in_the_smallest_page) {
    IdentifyController data = good_controller();
    data.mdts = 5;
    EXPECT_EQ(identity_of(data).mdts, 32U * 4096U);
    EXPECT_EQ(identity_of(data, Capabilities{1ULL << 48}).mdts, 32U * 8192U);
    data.mdts = 0;
    EXPECT_EQ(identity_of(data).mdts, 0U);
    data.mdts = 255;
    EXPECT_EQ(identity_of(data).mdts, 0U) << "beyond any transfer: no limit";
}

TEST(IdentifyController, in_capsule_room_is_what_ioccsz_leaves_behind_the_command) {
    IdentifyController data = good_controller();
    data.ioccsz = (64 + 8192) / 16;
    EXPECT_EQ(identity_of(data).in_capsule, 8192U);
    data.ioccsz = 4;
    EXPECT_EQ(identity_of(data).in_capsule, 0U);
    data.ioccsz = (64 + 8192) / 16;
    data.sgls = kSglsSupported;
    EXPECT_EQ(identity_of(data).in_capsule, 0U) << "the controller takes no offsets into the capsule";
}

TEST(IdentifyController, units_become_nanoseconds) {
    IdentifyController data = good_controller();
    data.rtd3e = 2'500'000;
    data.kas = 10;
    const ControllerIdentity identity = identity_of(data);
    EXPECT_EQ(identity.shutdown_time, 2500 * kMillisecond);
    EXPECT_EQ(identity.keep_alive_granularity, kSecond);
}

TEST(IdentifyController, ana_is_reported_when_cmic_says_so) {
    IdentifyController data = good_controller();
    EXPECT_TRUE(identity_of(data).ana_reporting);
    EXPECT_EQ(identity_of(data).max_ana_group, 128U);
    data.cmic = 0;
    data.anagrpmax = 0;
    EXPECT_FALSE(identity_of(data).ana_reporting);
}

TEST(IdentifyController, mnan_bounds_the_namespaces_where_it_is_said) {
    IdentifyController data = good_controller();
    data.nn = 4096;
    EXPECT_EQ(identity_of(data).namespaces, 4096U);
    data.mnan = 32;
    EXPECT_EQ(identity_of(data).namespaces, 32U);
}

TEST(IdentifyController, oncs_says_which_commands_there_are) {
    IdentifyController data = good_controller();
    data.oncs = 0;
    EXPECT_FALSE(identity_of(data).dataset_management);
    EXPECT_FALSE(identity_of(data).write_zeroes);
    data.oncs = 0x4;
    EXPECT_TRUE(identity_of(data).dataset_management);
    data.oncs = 0x8;
    EXPECT_TRUE(identity_of(data).write_zeroes);
}

TEST(IdentifyController, the_command_sets_limits_are_added) {
    ControllerIdentity identity;
    IdentifyNvmController data;
    add_nvm_limits(identity, data, kPages4k);
    EXPECT_EQ(identity.max_trim_blocks, 0U);
    EXPECT_EQ(identity.max_write_zeroes, 0U);
    data.dmrsl = 1000;
    data.wzsl = 4;
    add_nvm_limits(identity, data, kPages4k);
    EXPECT_EQ(identity.max_trim_blocks, 1000U);
    EXPECT_EQ(identity.max_write_zeroes, 16U * 4096U);
    data.wzsl = 200;
    ControllerIdentity other;
    add_nvm_limits(other, data, kPages4k);
    EXPECT_EQ(other.max_write_zeroes, 0U) << "beyond any length: no limit";
}

struct BadController {
    const char* name;
    void (*spoil)(IdentifyController&);
    int code;
    const char* sentence;
};

class IdentifyControllerRefused : public testing::TestWithParam<BadController> {};

TEST_P(IdentifyControllerRefused, by_a_sentence) {
    IdentifyController data = good_controller();
    GetParam().spoil(data);
    const auto identity = decode_controller(data, kPages4k);
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().code, GetParam().code);
    EXPECT_THAT(identity.error().text, HasSubstr(GetParam().sentence));
}

using C = IdentifyController;
INSTANTIATE_TEST_SUITE_P(
    Rows, IdentifyControllerRefused,
    testing::Values(
        BadController{"discovery", [](C& c) { c.controller_type = 2; }, ENOTSUP, "a discovery controller"},
        BadController{"administrative", [](C& c) { c.controller_type = 3; }, ENOTSUP, "an administrative"},
        BadController{"sqe_larger", [](C& c) { c.sqes = 0x77; }, ENOTSUP, "SQES 77h"},
        BadController{"sqe_smaller", [](C& c) { c.sqes = 0x55; }, ENOTSUP, "SQES 55h"},
        BadController{"cqe", [](C& c) { c.cqes = 0x55; }, ENOTSUP, "CQES 55h"},
        BadController{"icdoff", [](C& c) { c.icdoff = 4; }, ENOTSUP, "ICDOFF 4"},
        BadController{"ioccsz", [](C& c) { c.ioccsz = 3; }, EPROTO, "IOCCSZ 3"},
        BadController{"sgls", [](C& c) { c.sgls = kSglsOffsetInCapsule; }, ENOTSUP, "does not support SGLs"},
        BadController{"ana_without_groups", [](C& c) { c.nanagrpid = 0; }, EPROTO, "NANAGRPID 0"},
        BadController{"ana_without_anagrpmax", [](C& c) { c.anagrpmax = 0; }, EPROTO, "ANAGRPMAX 0"}),
    [](const auto& row) { return row.param.name; });

// ---- namespace

TEST(IdentifyNamespace, size_and_block_size_come_from_the_format_in_use) {
    IdentifyNamespace data = good_namespace();
    data.nsze = 1000;
    data.flbas = 2;
    data.lbaf[2].lbads = 12;
    EXPECT_EQ(limits_of(data).block_size, 4096U);
    EXPECT_EQ(limits_of(data).size, 4096'000U);
}

TEST(IdentifyNamespace, the_optimal_boundary_counts_in_blocks) {
    IdentifyNamespace data = good_namespace();
    data.flbas = 2;
    data.lbaf[2].lbads = 12;
    EXPECT_EQ(limits_of(data).boundary, 0U);
    data.noiob = 32;
    EXPECT_EQ(limits_of(data).boundary, 128U * 1024U);
}

TEST(IdentifyNamespace, limits_of_trim_and_write_zeroes_are_the_controllers) {
    IdentifyNamespace data = good_namespace();
    data.flbas = 2;
    data.lbaf[2].lbads = 12;
    ControllerIdentity controller;
    controller.max_trim_blocks = 10;
    controller.write_zeroes = true;
    controller.max_write_zeroes = 65536;
    EXPECT_EQ(limits_of(data, controller).max_trim, 40960U);
    EXPECT_TRUE(limits_of(data, controller).can_write_zeroes);
    EXPECT_EQ(limits_of(data, controller).max_write_zeroes, 65536U);
}

TEST(IdentifyNamespace, formats_above_16_are_in_the_upper_bits_of_flbas) {
    IdentifyNamespace data = good_namespace();
    data.flbas = 0x21; // 6:5 = 01b, 3:0 = 1: format 17
    data.lbaf[17].lbads = 13;
    EXPECT_EQ(limits_of(data).block_size, 8192U);
}

struct TransferLimit {
    std::uint8_t lbads;
    std::uint64_t mdts;
    std::uint32_t expected;
};

class IdentifyNamespaceTransfer : public testing::TestWithParam<TransferLimit> {};

TEST_P(IdentifyNamespaceTransfer, is_the_least_of_mdts_65536_blocks_and_four_mebibytes_without_mdts) {
    IdentifyNamespace data = good_namespace();
    data.lbaf[0].lbads = GetParam().lbads;
    ControllerIdentity controller;
    controller.mdts = GetParam().mdts;
    EXPECT_EQ(limits_of(data, controller).max_transfer, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Rows, IdentifyNamespaceTransfer,
                         testing::Values(TransferLimit{9, 1 << 20, 1U << 20},           //
                                         TransferLimit{9, 0, 4U << 20},                 //
                                         TransferLimit{9, 1ULL << 40, 65536U * 512U},   //
                                         TransferLimit{12, 0, 4U << 20},                //
                                         TransferLimit{12, 4096, 4096U},                //
                                         TransferLimit{12, 1ULL << 40, 65536U * 4096U}, //
                                         TransferLimit{16, 0, 4U << 20},                //
                                         TransferLimit{16, 1ULL << 40, 1U << 31}));

TEST(IdentifyNamespace, what_the_controller_can_do_goes_into_the_limits) {
    ControllerIdentity controller;
    EXPECT_FALSE(limits_of(good_namespace(), controller).can_trim);
    EXPECT_FALSE(limits_of(good_namespace(), controller).can_flush);
    controller.dataset_management = controller.volatile_write_cache = true;
    EXPECT_TRUE(limits_of(good_namespace(), controller).can_trim);
    EXPECT_TRUE(limits_of(good_namespace(), controller).can_flush);
}

TEST(IdentifyNamespace, write_protection_is_seen) {
    IdentifyNamespace data = good_namespace();
    EXPECT_FALSE(limits_of(data).read_only);
    data.nsattr = kNsattrWriteProtected;
    EXPECT_TRUE(limits_of(data).read_only);
}

struct BadNamespace {
    const char* name;
    void (*spoil)(IdentifyNamespace&);
    int code;
    const char* sentence;
};

class IdentifyNamespaceRefused : public testing::TestWithParam<BadNamespace> {};

TEST_P(IdentifyNamespaceRefused, by_a_sentence) {
    IdentifyNamespace data = good_namespace();
    GetParam().spoil(data);
    ControllerIdentity controller;
    controller.mdts = 4096;
    const auto facts = decode_namespace(data, 5, controller);
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().code, GetParam().code);
    EXPECT_THAT(facts.error().text, HasSubstr("namespace 5"));
    EXPECT_THAT(facts.error().text, HasSubstr(GetParam().sentence));
}

using N = IdentifyNamespace;
INSTANTIATE_TEST_SUITE_P(
    Rows, IdentifyNamespaceRefused,
    testing::Values(
        BadNamespace{"no_blocks", [](N& n) { n.nsze = 0; }, ENODEV, "has no blocks"},
        BadNamespace{"metadata", [](N& n) { n.lbaf[0].metadata_size = 8; }, EMEDIUMTYPE,
                     "8 bytes of metadata"},
        BadNamespace{"protection_information", [](N& n) { n.dps = 1; }, EMEDIUMTYPE,
                     "protection information (type 1)"},
        BadNamespace{"both",
                     [](N& n) {
                         n.dps = 3;
                         n.lbaf[0].metadata_size = 8;
                     },
                     EMEDIUMTYPE, "protection information (type 3)"},
        BadNamespace{"blocks_too_small", [](N& n) { n.lbaf[0].lbads = 8; }, EMEDIUMTYPE, "2^8 bytes"},
        BadNamespace{"blocks_too_large", [](N& n) { n.lbaf[0].lbads = 17; }, EMEDIUMTYPE, "2^17 bytes"},
        BadNamespace{"blocks_absurd", [](N& n) { n.lbaf[0].lbads = 255; }, EMEDIUMTYPE, "2^255 bytes"},
        BadNamespace{"size_beyond_64_bits", [](N& n) { n.nsze = 1ULL << 55; }, EPROTO,
                     "36028797018963968 blocks"},
        BadNamespace{"block_above_mdts", [](N& n) { n.lbaf[0].lbads = 13; }, EPROTO,
                     "blocks of 8192 bytes, but one command may transfer only 4096"}),
    [](const auto& row) { return row.param.name; });

// ---- identity

std::vector<std::byte> descriptor(std::uint8_t type, std::uint8_t length, std::uint8_t first) {
    std::vector<std::byte> bytes{std::byte{type}, std::byte{length}, std::byte{0}, std::byte{0}};
    for (unsigned i = 0; i < length; ++i) {
        bytes.push_back(static_cast<std::byte>(first + i));
    }
    return bytes;
}

std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

const auto kEui64 = descriptor(1, 8, 0x10);
const auto kNguid = descriptor(2, 16, 0x20);
const auto kUuid = descriptor(3, 16, 0x30);
const auto kNvm = descriptor(4, 1, 0);

std::string identity_text(const std::vector<std::byte>& list,
                          const IdentifyNamespace& data = good_namespace()) {
    const auto identity = decode_identity(list, data, 1);
    return identity ? identity->text() : identity.error().text;
}

TEST(NamespaceIdentity, uuid_is_stronger_than_nguid_and_that_than_eui64) {
    EXPECT_EQ(identity_text(kEui64 + kNguid + kUuid + kNvm), "uuid 30313233-3435-3637-3839-3a3b3c3d3e3f");
    EXPECT_EQ(identity_text(kUuid + kNguid + kEui64), "uuid 30313233-3435-3637-3839-3a3b3c3d3e3f");
    EXPECT_EQ(identity_text(kEui64 + kNguid), "nguid 202122232425262728292a2b2c2d2e2f");
    EXPECT_EQ(identity_text(kEui64), "eui64 1011121314151617");
    EXPECT_EQ(identity_text({}), "none");
}

TEST(NamespaceIdentity, fields_of_identify_namespace_serve_controllers_without_the_list) {
    IdentifyNamespace data = good_namespace();
    data.eui64 = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(identity_text({}, data), "eui64 0102030405060708");
    data.nguid.fill(0xab);
    EXPECT_EQ(identity_text({}, data), "nguid abababababababababababababababab");
    EXPECT_EQ(identity_text(kUuid, data), "uuid 30313233-3435-3637-3839-3a3b3c3d3e3f");
}

TEST(NamespaceIdentity, an_identifier_of_zeroes_is_none) {
    std::vector<std::byte> zero_uuid = descriptor(3, 16, 0);
    std::fill(zero_uuid.begin() + 4, zero_uuid.end(), std::byte{0});
    EXPECT_EQ(identity_text(zero_uuid + kEui64), "eui64 1011121314151617");
}

TEST(NamespaceIdentity, a_length_of_zero_ends_the_list) {
    EXPECT_EQ(identity_text(kEui64 + descriptor(0, 0, 0) + kUuid), "eui64 1011121314151617");
}

TEST(NamespaceIdentity, unknown_types_are_passed_over) {
    EXPECT_EQ(identity_text(descriptor(9, 32, 0) + kNguid), "nguid 202122232425262728292a2b2c2d2e2f");
}

struct BadList {
    const char* name;
    std::vector<std::byte> bytes;
    int code;
    const char* sentence;
};

class NamespaceIdentityRefused : public testing::TestWithParam<BadList> {};

TEST_P(NamespaceIdentityRefused, by_a_sentence) {
    const auto identity = decode_identity(GetParam().bytes, good_namespace(), 5);
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().code, GetParam().code);
    EXPECT_THAT(identity.error().text, HasSubstr(GetParam().sentence));
}

std::vector<std::byte> cut(std::vector<std::byte> bytes, std::size_t size) {
    bytes.resize(size);
    return bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, NamespaceIdentityRefused,
    testing::Values(BadList{"uuid_of_15", descriptor(3, 15, 1), EPROTO, "type 3 with a wrong length (15)"},
                    BadList{"eui64_of_16", descriptor(1, 16, 1), EPROTO, "type 1 with a wrong length (16)"},
                    BadList{"beyond_the_end", cut(kUuid, 19), EPROTO, "type 3 with a wrong length (16)"},
                    BadList{"unknown_beyond_the_end", cut(descriptor(9, 32, 1), 20), EPROTO, "type 9"},
                    BadList{"zoned", kUuid + descriptor(4, 1, 2), EMEDIUMTYPE, "command set 2"}),
    [](const auto& row) { return row.param.name; });

TEST(NamespaceList, ends_at_the_first_zero) {
    const std::array<Le32, 5> list{1U, 3U, 7U, 0U, 9U};
    EXPECT_THAT(decode_namespace_list(std::as_bytes(std::span(list))), ElementsAre(1, 3, 7));
    EXPECT_THAT(decode_namespace_list({}), IsEmpty());
}

} // namespace
} // namespace mpath::nvme
