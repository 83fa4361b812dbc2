// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/discovery_log.h"

#include <libnvme.h>

#include <cstddef>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::nvme {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

template <std::size_t N>
void put(std::array<char, N>& field, std::string_view text, char padding = '\0') {
    field.fill(padding);
    std::copy_n(text.begin(), text.size(), field.begin());
}

DiscoveryLogEntry good_entry() {
    DiscoveryLogEntry entry;
    entry.trtype = 3;
    entry.adrfam = 1;
    entry.subtype = 2;
    entry.treq = treq::kSecureChannelNotRequired;
    entry.portid = 7;
    entry.cntlid = 0xffff;
    put(entry.trsvcid, "4420");
    put(entry.subnqn, "nqn.2014-08.org.example:vol1");
    put(entry.traddr, "192.0.2.7");
    return entry;
}

Result<std::vector<DiscoveryEntry>> decode(const std::vector<DiscoveryLogEntry>& entries) {
    return decode_discovery_entries(std::as_bytes(std::span(entries)));
}

/// The one entry, decoded.
DiscoveryEntry decoded(const DiscoveryLogEntry& entry) {
    auto entries = decode({entry});
    EXPECT_TRUE(entries) << entries.error().text;
    return entries ? entries->front() : DiscoveryEntry();
}

#define EXPECT_SAME_FIELD(Ours, our_field, Theirs, their_field)                                              \
    EXPECT_EQ(offsetof(Ours, our_field), offsetof(Theirs, their_field)) << #our_field;                       \
    EXPECT_EQ(sizeof(Ours::our_field), sizeof(Theirs::their_field)) << #our_field

TEST(DiscoveryLayout, is_that_of_libnvme) {
    EXPECT_EQ(sizeof(DiscoveryLogHeader), sizeof(nvmf_discovery_log));
    EXPECT_SAME_FIELD(DiscoveryLogHeader, generation, nvmf_discovery_log, genctr);
    EXPECT_SAME_FIELD(DiscoveryLogHeader, records, nvmf_discovery_log, numrec);
    EXPECT_SAME_FIELD(DiscoveryLogHeader, format, nvmf_discovery_log, recfmt);
    EXPECT_EQ(sizeof(DiscoveryLogEntry), sizeof(nvmf_disc_log_entry));
    EXPECT_SAME_FIELD(DiscoveryLogEntry, trtype, nvmf_disc_log_entry, trtype);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, adrfam, nvmf_disc_log_entry, adrfam);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, subtype, nvmf_disc_log_entry, subtype);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, treq, nvmf_disc_log_entry, treq);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, portid, nvmf_disc_log_entry, portid);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, cntlid, nvmf_disc_log_entry, cntlid);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, asqsz, nvmf_disc_log_entry, asqsz);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, eflags, nvmf_disc_log_entry, eflags);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, trsvcid, nvmf_disc_log_entry, trsvcid);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, subnqn, nvmf_disc_log_entry, subnqn);
    EXPECT_SAME_FIELD(DiscoveryLogEntry, traddr, nvmf_disc_log_entry, traddr);
    EXPECT_EQ(offsetof(DiscoveryLogEntry, tsas), offsetof(nvmf_disc_log_entry, tsas.tcp.sectype));
}

TEST(DiscoveryLayout, has_the_values_of_libnvme) {
    EXPECT_EQ(kDiscoveryNqn, NVME_DISC_SUBSYS_NAME);
    EXPECT_EQ(static_cast<int>(TransportType::tcp), NVMF_TRTYPE_TCP);
    EXPECT_EQ(static_cast<int>(AddressFamily::ipv4), NVMF_ADDR_FAMILY_IP4);
    EXPECT_EQ(static_cast<int>(AddressFamily::ipv6), NVMF_ADDR_FAMILY_IP6);
    EXPECT_EQ(static_cast<int>(DiscoverySubtype::referral), NVME_NQN_DISC);
    EXPECT_EQ(static_cast<int>(DiscoverySubtype::subsystem), NVME_NQN_NVME);
    EXPECT_EQ(static_cast<int>(DiscoverySubtype::current), NVME_NQN_CURR);
    EXPECT_EQ(treq::kSecureChannelRequired, NVMF_TREQ_REQUIRED);
    EXPECT_EQ(treq::kSecureChannelNotRequired, NVMF_TREQ_NOT_REQUIRED);
    EXPECT_EQ(eflags::kDuplicateReturnedInformation, NVMF_DISC_EFLAGS_DUPRETINFO);
    EXPECT_EQ(static_cast<int>(SecurityType::tls13), NVMF_TCP_SECTYPE_TLS13);
}

TEST(DiscoveryHeader, tells_generation_and_number) {
    DiscoveryLogHeader header;
    header.generation = 5;
    header.records = 3;
    EXPECT_EQ(decode_discovery_header(header).value(), (DiscoverySummary{5, 3}));
}

TEST(DiscoveryHeader, is_refused_for_another_format_or_an_impossible_number) {
    DiscoveryLogHeader header;
    header.format = 1;
    EXPECT_EQ(decode_discovery_header(header).error().code, EPROTO);
    EXPECT_THAT(decode_discovery_header(header).error().text, HasSubstr("format 1 (RECFMT)"));
    header.format = 0;
    header.records = kMaxDiscoveryEntries;
    EXPECT_TRUE(decode_discovery_header(header));
    for (const std::uint64_t lie : {kMaxDiscoveryEntries + 1, ~std::uint64_t{0}, std::uint64_t{1} << 54}) {
        header.records = lie;
        EXPECT_EQ(decode_discovery_header(header).error().code, EPROTO);
        EXPECT_THAT(decode_discovery_header(header).error().text, HasSubstr("(NUMREC)"));
    }
}

TEST(DiscoveryEntries, are_read_field_by_field) {
    DiscoveryLogEntry raw = good_entry();
    raw.eflags = eflags::kDuplicateReturnedInformation;
    const DiscoveryEntry entry = decoded(raw);
    EXPECT_TRUE(entry.is(DiscoverySubtype::subsystem));
    EXPECT_EQ(entry.port_id, 7);
    EXPECT_EQ(entry.flags, eflags::kDuplicateReturnedInformation);
    EXPECT_EQ(entry.subnqn, "nqn.2014-08.org.example:vol1");
    EXPECT_EQ(entry.text(), "192.0.2.7:4420");
    EXPECT_EQ(entry.port(), 4420);
    EXPECT_THAT(entry.obstacle(), IsEmpty());
}

TEST(DiscoveryEntries, may_be_padded_with_blanks) {
    DiscoveryLogEntry raw = good_entry();
    put(raw.trsvcid, "4420", ' ');
    put(raw.traddr, "192.0.2.7", ' ');
    EXPECT_EQ(decoded(raw), decoded(good_entry()));
}

TEST(DiscoveryEntries, have_ipv6_addresses_without_brackets) {
    DiscoveryLogEntry raw = good_entry();
    raw.adrfam = 2;
    put(raw.traddr, "2001:db8::7");
    EXPECT_EQ(decoded(raw).text(), "[2001:db8::7]:4420");
    EXPECT_THAT(decoded(raw).obstacle(), IsEmpty());
}

TEST(DiscoveryEntries, need_no_name_when_they_are_referrals) {
    DiscoveryLogEntry raw = good_entry();
    raw.subtype = 1;
    raw.subnqn.fill('\0');
    EXPECT_EQ(decoded(raw).subnqn, "");
}

TEST(DiscoveryEntries, are_as_many_as_there_are_bytes) {
    EXPECT_THAT(decode({}).value(), IsEmpty());
    EXPECT_EQ(decode({good_entry(), good_entry()}).value().size(), 2U);
    EXPECT_FALSE(decode_discovery_entries(std::vector<std::byte>(1000)));
}

struct Refused {
    const char* name;
    void (*spoil)(DiscoveryLogEntry&);
    const char* sentence;
};

class RefusedEntry : public testing::TestWithParam<Refused> {};

TEST_P(RefusedEntry, takes_the_log_with_it) {
    DiscoveryLogEntry raw = good_entry();
    GetParam().spoil(raw);
    const auto entries = decode({good_entry(), raw});
    ASSERT_FALSE(entries);
    EXPECT_EQ(entries.error().code, EPROTO);
    EXPECT_EQ(entries.error().text, GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedEntry,
    testing::Values(Refused{"nqn_without_an_end", [](auto& e) { e.subnqn.fill('n'); },
                            "entry 2: SUBNQN fills its 256 bytes without an end"},
                    Refused{"address_without_an_end", [](auto& e) { e.traddr.fill('1'); },
                            "entry 2: TRADDR fills its 256 bytes without an end"},
                    Refused{"port_without_an_end", [](auto& e) { e.trsvcid.fill('4'); },
                            "entry 2: TRSVCID fills its 32 bytes without an end"},
                    Refused{"unprintable_address", [](auto& e) { put(e.traddr, "192.0.\x1b[2J"); },
                            "entry 2: TRADDR contains byte 1bh at position 7"},
                    Refused{"unprintable_port", [](auto& e) { put(e.trsvcid, "44\xff"); },
                            "entry 2: TRSVCID contains byte ffh at position 3"},
                    Refused{"unprintable_nqn", [](auto& e) { put(e.subnqn, "nqn.x\n"); },
                            "entry 2: SUBNQN contains byte 0x0a at position 6, neither space nor control "
                            "characters are allowed"},
                    Refused{"nqn_that_is_none", [](auto& e) { put(e.subnqn, "iqn.x"); },
                            "entry 2: SUBNQN 'iqn.x' does not begin with 'nqn.' and a name"},
                    Refused{"subsystem_without_a_name", [](auto& e) { e.subnqn.fill('\0'); },
                            "entry 2: SUBNQN is empty"}),
    [](const auto& row) { return row.param.name; });

class Obstacle : public testing::TestWithParam<Refused> {};

TEST_P(Obstacle, leaves_the_entry_in_the_log) {
    DiscoveryLogEntry raw = good_entry();
    GetParam().spoil(raw);
    EXPECT_THAT(decoded(raw).obstacle(), StartsWith(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Obstacle,
    testing::Values(
        Refused{"rdma", [](auto& e) { e.trtype = 1; }, "is reached by RDMA, this initiator speaks TCP only"},
        Refused{"a_later_transport", [](auto& e) { e.trtype = 9; }, "is reached by transport 9"},
        Refused{"a_later_family", [](auto& e) { e.adrfam = 9; }, "has an address of family 9"},
        Refused{"infiniband", [](auto& e) { e.adrfam = 3; }, "has an address of family InfiniBand"},
        Refused{"another_familys_address", [](auto& e) { e.adrfam = 2; },
                "has the address '192.0.2.7', which is no IPv6 address"},
        Refused{"no_address", [](auto& e) { e.traddr.fill('\0'); }, "has the address ''"},
        Refused{"wildcard", [](auto& e) { put(e.traddr, "0.0.0.0"); }, "has the address '0.0.0.0'"},
        Refused{"port_zero", [](auto& e) { put(e.trsvcid, "0"); }, "has the port '0'"},
        Refused{"port_too_high", [](auto& e) { put(e.trsvcid, "65536"); }, "has the port '65536'"},
        Refused{"no_port", [](auto& e) { put(e.trsvcid, "none"); }, "has the port 'none'"},
        Refused{"secure_channel_required", [](auto& e) { e.treq = treq::kSecureChannelRequired; },
                "requires TLS"},
        Refused{"tls_and_nothing_said", [](auto& e) { e.treq = 0, e.tsas[0] = 2; }, "requires TLS"}),
    [](const auto& row) { return row.param.name; });

TEST(Obstacle, is_none_where_tls_is_possible_but_not_required) {
    DiscoveryLogEntry raw = good_entry();
    raw.tsas[0] = static_cast<std::uint8_t>(SecurityType::tls13);
    EXPECT_THAT(decoded(raw).obstacle(), IsEmpty());
}

} // namespace
} // namespace mpath::nvme
