// SPDX-License-Identifier: GPL-2.0-only
// What a command's end says about the path it came by: the SCSI rows of docs/architecture.md's table.
#include "iscsi/sense.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/iscsi_scsi/hex_bytes.h"

namespace mpath::iscsi {

void PrintTo(const Sense& sense, std::ostream* out) {
    *out << status_text(sense);
}

namespace test {
namespace {

constexpr std::uint8_t kCheck = scsi_status::kCheckCondition;

Sense checked(std::uint8_t key, std::uint8_t asc, std::uint8_t ascq, bool deferred = false) {
    return {.status = kCheck, .key = key, .asc = asc, .ascq = ascq, .deferred = deferred};
}

TEST(ParseSense, reads_both_formats_current_and_deferred) {
    const std::pair<Bytes, Sense> cases[] = {
        {hex("70 00 02 00000000 0a 00000000 04 0b 00 000000"), checked(0x2, 0x04, 0x0b)},
        {hex("f0 00 e3 00000007 0a 00000000 11 00 00 000000"), checked(0x3, 0x11, 0x00)}, // VALID and ILI
        {hex("71 00 03 00000000 0a 00000000 0c 00 00 000000"), checked(0x3, 0x0c, 0x00, true)},
        {hex("72 06 2a 06 000000 00"), checked(0x6, 0x2a, 0x06)},
        {hex("73 04 44 00 000000 00"), checked(0x4, 0x44, 0x00, true)},
    };
    for (const auto& [bytes, expected] : cases) {
        EXPECT_EQ(parse_sense(kCheck, bytes), expected);
    }
}

TEST(ParseSense, takes_as_much_as_came) {
    const std::pair<Bytes, Sense> cases[] = {
        {{}, checked(0, 0, 0)},
        {hex("70"), checked(0, 0, 0)},
        {hex("70 00 02"), checked(0x2, 0, 0)},
        {hex("70 00 02 00000000 0a 00000000 04"), checked(0x2, 0x04, 0)},
        {hex("72 06 2a"), checked(0x6, 0x2a, 0)},
    };
    for (const auto& [bytes, expected] : cases) {
        EXPECT_EQ(parse_sense(kCheck, bytes), expected);
    }
}

TEST(ParseSense, passes_over_what_is_behind_its_end) {
    EXPECT_EQ(parse_sense(kCheck, hex("70 00 05 00000000 04 00000000 ff ff")), checked(0x5, 0, 0));
    EXPECT_EQ(parse_sense(kCheck, hex("70 00 05 00000000 05 00000000 25 ff")), checked(0x5, 0x25, 0));
}

TEST(ParseSense, finds_nothing_in_another_format_or_beside_another_status) {
    EXPECT_EQ(parse_sense(kCheck, hex("7f 02 04 0b 000000 0a 00000000 04 0b")), checked(0, 0, 0));
    EXPECT_EQ(parse_sense(kCheck, text("no sense at all, but eighteen bytes")), checked(0, 0, 0));
    EXPECT_EQ(parse_sense(scsi_status::kBusy, hex("72 02 04 0b")), (Sense{.status = scsi_status::kBusy}));
}

TEST(PackedSense, comes_back_as_it_was) {
    EXPECT_EQ(pack(checked(0x2, 0x04, 0x0b)), 0x02'02'04'0bU);
    EXPECT_EQ(pack(checked(0x3, 0x0c, 0x00, true)), 0x02'83'0c'00U);
    for (const Sense& sense : {checked(0x2, 0x04, 0x0b), checked(0xf, 0xff, 0xff),
                               checked(0x3, 0x0c, 0, true), Sense{.status = 0x28}, Sense{}}) {
        EXPECT_EQ(unpack(pack(sense)), sense);
    }
}

struct Row {
    std::uint32_t packed; ///< status, key, ASC, ASCQ
    ErrorClass expected;
};

class SenseClass : public testing::TestWithParam<Row> {};

TEST_P(SenseClass, is_as_in_the_table) {
    EXPECT_EQ(to_string(classify(unpack(GetParam().packed))), to_string(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, SenseClass,
    testing::Values(Row{0x00000000, ErrorClass::none}, Row{0x04000000, ErrorClass::none},
                    Row{0x02011701, ErrorClass::none},             // recovered: the data is there
                    Row{0x02000000, ErrorClass::io_error},         // no sense: nobody knows
                    Row{0x02020400, ErrorClass::io_error},         // not ready, and nothing says for how long
                    Row{0x02020401, ErrorClass::busy},             // becoming ready
                    Row{0x0202040a, ErrorClass::ana_transition},   //
                    Row{0x0202040b, ErrorClass::ana_inaccessible}, // standby
                    Row{0x0202040c, ErrorClass::ana_inaccessible}, // unavailable
                    Row{0x02020412, ErrorClass::ana_inaccessible}, // offline
                    Row{0x02023a00, ErrorClass::io_error},         // no medium
                    Row{0x02031100, ErrorClass::io_error},         // medium error
                    Row{0x02044400, ErrorClass::io_error},         // hardware error
                    Row{0x02052000, ErrorClass::io_error},         // no such command
                    Row{0x02052100, ErrorClass::io_error},         // no such block
                    Row{0x02052500, ErrorClass::path_error},       // no such unit through this port
                    Row{0x0206040a, ErrorClass::ana_transition},   // told as an attention
                    Row{0x02062900, ErrorClass::unit_attention},   // power on
                    Row{0x02062904, ErrorClass::unit_attention},   // internal reset
                    Row{0x02062a01, ErrorClass::state_changed},    // mode parameters changed
                    Row{0x02062a06, ErrorClass::state_changed},    // access state changed
                    Row{0x02062a07, ErrorClass::state_changed},    // a transition failed
                    Row{0x02062a09, ErrorClass::unit_attention},   // capacity changed
                    Row{0x02063f0e, ErrorClass::unit_attention},   // LUNs changed
                    Row{0x02072700, ErrorClass::io_error},         // write protected
                    Row{0x020b0000, ErrorClass::transport_error},  //
                    Row{0x020b4701, ErrorClass::transport_error},  // CRC of the data
                    Row{0x020b4b00, ErrorClass::transport_error},  // data phase
                    Row{0x020e1d00, ErrorClass::io_error},         // miscompare
                    Row{0x02810c01, ErrorClass::unit_attention},   // deferred: this command was not done
                    Row{0x02830c00, ErrorClass::io_error},         // deferred: an earlier one lost data
                    Row{0x08000000, ErrorClass::busy}, Row{0x28000000, ErrorClass::busy},
                    Row{0x18000000, ErrorClass::io_error}, Row{0x30000000, ErrorClass::io_error},
                    Row{0x40000000, ErrorClass::aborted}, Row{0xff000000, ErrorClass::io_error}),
    [](const auto& row) { return fmt::format("Sense{:08x}", row.param.packed); });

TEST(Attention, says_what_to_look_at_again) {
    struct {
        Sense sense;
        bool state, capacity, identity;
    } const cases[] = {
        {checked(0x6, 0x29, 0x00), true, true, true}, // a reset: everything
        {checked(0x6, 0x29, 0x04), true, true, true},    {checked(0x6, 0x2a, 0x01), true, false, false},
        {checked(0x6, 0x2a, 0x06), true, false, false},  {checked(0x6, 0x2a, 0x07), true, false, false},
        {checked(0x2, 0x04, 0x0a), true, false, false},  {checked(0x2, 0x04, 0x0b), true, false, false},
        {checked(0x2, 0x04, 0x0c), true, false, false},  {checked(0x2, 0x04, 0x12), true, false, false},
        {checked(0x6, 0x2a, 0x09), false, true, false},  {checked(0x6, 0x3f, 0x03), false, false, true},
        {checked(0x6, 0x3f, 0x0e), false, false, true},  {checked(0x5, 0x25, 0x00), false, false, true},
        {checked(0x3, 0x11, 0x00), false, false, false}, {{}, false, false, false},
    };
    for (const auto& row : cases) {
        const Attention attention = attention_of(row.sense);
        EXPECT_EQ(attention.state, row.state) << status_text(row.sense);
        EXPECT_EQ(attention.capacity, row.capacity) << status_text(row.sense);
        EXPECT_EQ(attention.identity, row.identity) << status_text(row.sense);
        EXPECT_EQ(attention.any(), row.state || row.capacity || row.identity);
    }
}

TEST(SenseText, has_the_numbers_and_what_they_mean) {
    const std::pair<Sense, std::string> cases[] = {
        {checked(0x2, 0x04, 0x0b),
         "status 02h, sense 2/04/0B (logical unit not accessible, target port in standby state)"},
        {checked(0x3, 0x0c, 0x00, true), "status 02h, deferred sense 3/0C/00 (write error)"},
        {checked(0xb, 0x99, 0xaf), "status 02h, sense B/99/AF"},
        {{.status = 0x08}, "status 08h (busy)"},
        {{.status = 0x18}, "status 18h (reservation conflict)"},
        {{.status = 0x28}, "status 28h (task set full)"},
        {{.status = 0x40}, "status 40h (task aborted)"},
        {{.status = 0x99}, "status 99h (unknown)"},
    };
    for (const auto& [sense, expected] : cases) {
        EXPECT_EQ(status_text(sense), expected);
    }
}

} // namespace
} // namespace test
} // namespace mpath::iscsi
