// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/inquiry.h"

#include <gtest/gtest.h>

#include "iscsi/wire/scsi.h"
#include "tests/unit/iscsi_scsi/hex_bytes.h"

namespace mpath::iscsi::test {
namespace {

using Kind = DeviceIdentity::Kind;

// ---- standard INQUIRY

Bytes standard_inquiry(std::string_view first_bytes) {
    return hex(first_bytes) + text("LIO-ORG disk 7          4.0 ");
}

TEST(Inquiry, tells_the_model_and_how_states_change) {
    const auto facts = parse_inquiry(standard_inquiry("00 00 06 02 1f 30 00 02"));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_EQ(facts->model.model, "LIO-ORG disk 7");
    EXPECT_EQ(facts->model.firmware, "4.0");
    EXPECT_EQ(facts->tpgs, 3);
}

TEST(Inquiry, makes_blanks_of_what_can_not_be_printed) {
    const auto facts = parse_inquiry(hex("00 00 06 02 1f 00 00 00") + text("A\nB\x80\x1b[1m") +
                                     Bytes(16, std::byte{0}) + hex("20 ff 31 00"));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_EQ(facts->model.model, "A B  [1m");
    EXPECT_EQ(facts->model.firmware, "1");
}

TEST(Inquiry, refuses_what_is_no_disk) {
    const struct {
        Bytes data;
        int code;
        std::string sentence;
    } cases[] = {
        {standard_inquiry("7f 00 06 02 1f 00 00 00"), ENODEV,
         "there is no logical unit behind this LUN (peripheral qualifier 3)"},
        {standard_inquiry("20 00 06 02 1f 00 00 00"), ENODEV,
         "there is no logical unit behind this LUN (peripheral qualifier 1)"},
        {standard_inquiry("05 80 06 02 1f 00 00 00"), EMEDIUMTYPE,
         "the logical unit is no disk (device type 05h)"},
        {standard_inquiry("0c 00 06 02 1f 00 00 00"), EMEDIUMTYPE,
         "the logical unit is no disk (device type 0ch): this is a controller's own LUN, disks have others"},
        {hex("00 00 06 02 1f"), EPROTO, "INQUIRY brought 5 bytes, a disk has 36 to say"},
    };
    for (const auto& row : cases) {
        const auto facts = parse_inquiry(row.data);
        ASSERT_FALSE(facts) << row.sentence;
        EXPECT_EQ(facts.error().code, row.code);
        EXPECT_EQ(facts.error().text, row.sentence);
    }
}

// ---- VPD 00h and 80h

TEST(VpdPages, are_listed_as_far_as_they_came) {
    EXPECT_EQ(parse_vpd_pages(hex("00 00 0004 00 80 83 b0")).value(),
              (std::vector<std::uint8_t>{0x00, 0x80, 0x83, 0xb0}));
    EXPECT_EQ(parse_vpd_pages(hex("00 00 0002 00 80 83 b0")).value().size(), 2U);
    EXPECT_EQ(parse_vpd_pages(hex("00 00 ffff 00 80")).value().size(), 2U);
    EXPECT_FALSE(parse_vpd_pages(hex("00 83 0002 00 80")));
    EXPECT_FALSE(parse_vpd_pages(hex("00 00 00")));
}

TEST(UnitSerial, is_without_the_blanks_around_it) {
    EXPECT_EQ(parse_unit_serial(hex("00 80 0008") + text("  S1 2  ")), "S1 2");
    EXPECT_EQ(parse_unit_serial(hex("00 80 0002") + text("S1and more")), "S1");
    EXPECT_EQ(parse_unit_serial(hex("00 83 0002") + text("S1")), "");
    EXPECT_EQ(parse_unit_serial({}), "");
}

// ---- VPD 83h

Bytes designator(unsigned association, unsigned type, const Bytes& value, unsigned code_set = 1) {
    return Bytes{static_cast<std::byte>(code_set), static_cast<std::byte>(association << 4 | type),
                 std::byte{0}, static_cast<std::byte>(value.size())} +
           value;
}
Bytes of_unit(unsigned type, const Bytes& value) {
    return designator(designator_association::kLogicalUnit, type, value);
}
Bytes of_port(unsigned type, const Bytes& value) {
    return designator(designator_association::kTargetPort, type, value);
}
Bytes page_83(const Bytes& designators) {
    return Bytes{std::byte{0}, std::byte{0x83}, static_cast<std::byte>(designators.size() >> 8),
                 static_cast<std::byte>(designators.size())} +
           designators;
}
std::string identity_of(const Bytes& designators) {
    const auto found = parse_identification(page_83(designators));
    return found ? found->identity.text() : found.error().text;
}

const Bytes kNaa6 = of_unit(designator_type::kNaa, hex("6001405a bbccdd00 11223344 55667788"));
const Bytes kNaa5 = of_unit(designator_type::kNaa, hex("5001405a bbccdd00"));
const Bytes kNaa2 = of_unit(designator_type::kNaa, hex("2001405a bbccdd00"));
const Bytes kNaa3 = of_unit(designator_type::kNaa, hex("30000001 00000001"));
const Bytes kEui = of_unit(designator_type::kEui64, hex("0025385a bbccdd00"));
const Bytes kT10 = of_unit(designator_type::kT10, text("IET     00010001"));
const Bytes kName = of_unit(designator_type::kScsiName, text("iqn.2003-01.org:d,L,0x1") + hex("00"));

TEST(Identification, takes_the_widest_name_wherever_it_stands) {
    const std::pair<Bytes, std::string> best_first[] = {
        {kNaa6, "vpd83 naa.6001405abbccdd001122334455667788"},
        {kNaa5, "vpd83 naa.5001405abbccdd00"},
        {kEui, "vpd83 eui.0025385abbccdd00"},
        {kNaa3, "vpd83 naa.3000000100000001"},
        {kT10, "vpd83 t10.IET     00010001"},
        {kName, "vpd83 iqn.2003-01.org:d,L,0x1"},
    };
    Bytes worse_behind;
    Bytes worse_before;
    for (auto row = std::rbegin(best_first); row != std::rend(best_first); ++row) {
        worse_behind = row->first + worse_behind;
        worse_before = worse_before + row->first;
        EXPECT_EQ(identity_of(worse_behind), row->second);
        EXPECT_EQ(identity_of(worse_before), row->second);
    }
    EXPECT_EQ(identity_of(kEui + kNaa2), "vpd83 naa.2001405abbccdd00");
    EXPECT_EQ(identity_of(kNaa2 + kNaa5), "vpd83 naa.2001405abbccdd00") << "of two alike the first";
    EXPECT_EQ(identity_of(of_unit(designator_type::kEui64, hex("0025385abbccdd00 0011223344556677"))),
              "vpd83 eui.0025385abbccdd000011223344556677");
}

TEST(Identification, is_none_without_a_name_that_only_one_unit_has) {
    const Bytes useless[] = {
        {},
        of_port(designator_type::kNaa, hex("6001405a bbccdd00 11223344 55667788")), // the port's
        designator(designator_association::kTargetDevice, designator_type::kScsiName, text("iqn.x")),
        of_unit(designator_type::kNaa, hex("6001405a bbccdd00")), // half of it
        of_unit(designator_type::kNaa, hex("40000001 00000001")), // no such NAA
        of_unit(designator_type::kNaa, {}),
        of_unit(designator_type::kEui64, hex("0025385a bb")),
        of_unit(designator_type::kEui64, Bytes(8, std::byte{0})),
        of_unit(designator_type::kT10, text("IET             ")), // a vendor, no unit
        of_unit(designator_type::kT10, text("IET")),
        of_unit(designator_type::kScsiName, text("   ")),
        of_unit(designator_type::kScsiName, hex("01 02 ff")), // nothing that can be printed
        of_unit(designator_type::kVendor, text("disk 7")),
        of_unit(designator_type::kMd5, Bytes(16, std::byte{7})),
        of_unit(0xf, text("reserved")),
    };
    for (const Bytes& designators : useless) {
        EXPECT_EQ(identity_of(designators), "none");
    }
}

TEST(Identification, finds_the_port_that_was_asked_and_its_group) {
    const auto found =
        parse_identification(page_83(kNaa6 + of_port(designator_type::kRelativePort, hex("0000 0102")) +
                                     of_port(designator_type::kTargetPortGroup, hex("0000 0a0b")) +
                                     of_unit(designator_type::kLogicalUnitGroup, hex("0000 ffff"))));
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->relative_port, 0x102);
    EXPECT_EQ(found->port_group, 0xa0b);
    EXPECT_EQ(found->identity.kind, Kind::vpd83);

    const auto without =
        parse_identification(page_83(kNaa6 + of_port(designator_type::kTargetPortGroup, hex("00"))));
    ASSERT_TRUE(without) << without.error().text;
    EXPECT_FALSE(without->port_group);
    EXPECT_FALSE(without->relative_port);
}

TEST(Identification, ends_with_the_last_designator_that_came_whole) {
    Bytes page = page_83(kEui + kNaa6);
    page.pop_back();
    EXPECT_EQ(parse_identification(page).value().identity.value, "eui.0025385abbccdd00");
    page.resize(sizeof(VpdHeader) + 2);
    EXPECT_EQ(parse_identification(page).value(), Identification{});
}

TEST(Identification, refuses_another_page) {
    for (const Bytes& data : {Bytes{}, hex("00 83 00"), hex("00 80 0004 00000000")}) {
        const auto found = parse_identification(data);
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code, EPROTO);
    }
}

} // namespace
} // namespace mpath::iscsi::test
