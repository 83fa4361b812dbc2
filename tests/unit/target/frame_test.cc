// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "target/frame.h"

namespace mpath::target {
namespace {

using nvme::FatalStatus;
using nvme::PduType;

constexpr FrameRules kRules{.initialized = true, .cpda = 0, .max_capsule = 8192, .max_h2c_data = 65536};

nvme::CommonHeader header(PduType type, std::uint8_t hlen, std::uint8_t pdo, std::uint32_t plen,
                          std::uint8_t flags = 0) {
    nvme::CommonHeader made;
    made.type = static_cast<std::uint8_t>(type);
    made.flags = flags;
    made.hlen = hlen;
    made.pdo = pdo;
    made.plen = plen;
    return made;
}

TEST(TargetFrame, TakesApartWhatAHostMaySend) {
    const auto command = frame_of(header(PduType::capsule_cmd, 72, 0, 72), kRules);
    ASSERT_TRUE(command);
    EXPECT_EQ(command->header, 72U);
    EXPECT_EQ(command->data, 0U);

    const auto in_capsule = frame_of(header(PduType::capsule_cmd, 72, 128, 128 + 4096), kRules);
    ASSERT_TRUE(in_capsule);
    EXPECT_EQ(in_capsule->header, 128U);
    EXPECT_EQ(in_capsule->data, 4096U);

    const auto data =
        frame_of(header(PduType::h2c_data, 24, 24, 24 + 65536, nvme::pdu_flag::kLastPdu), kRules);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->data, 65536U);
}

TEST(TargetFrame, NamesTheFieldThatIsWrong) {
    struct {
        const char* what;
        nvme::CommonHeader header;
        Fault fault;
    } const table[] = {
        {"unknown type",
         header(static_cast<PduType>(0x0a), 24, 0, 24),
         {FatalStatus::invalid_header_field, 0}},
        {"controller's type", header(PduType::r2t, 24, 0, 24), {FatalStatus::invalid_header_field, 0}},
        {"second ICReq", header(PduType::ic_req, 128, 0, 128), {FatalStatus::sequence_error, 0}},
        {"header digest", header(PduType::capsule_cmd, 72, 0, 72, 1), {FatalStatus::invalid_header_field, 1}},
        {"SUCCESS from a host",
         header(PduType::h2c_data, 24, 24, 28, 8),
         {FatalStatus::invalid_header_field, 1}},
        {"HLEN", header(PduType::capsule_cmd, 71, 0, 72), {FatalStatus::invalid_header_field, 2}},
        {"data in the header",
         header(PduType::capsule_cmd, 72, 68, 80),
         {FatalStatus::invalid_header_field, 3}},
        {"unaligned data", header(PduType::capsule_cmd, 72, 74, 80), {FatalStatus::invalid_header_field, 3}},
        {"PDO above 128", header(PduType::capsule_cmd, 72, 132, 200), {FatalStatus::invalid_header_field, 3}},
        {"PLEN below HLEN", header(PduType::capsule_cmd, 72, 0, 71), {FatalStatus::invalid_header_field, 4}},
        {"no data at PDO", header(PduType::capsule_cmd, 72, 80, 80), {FatalStatus::invalid_header_field, 4}},
        {"large capsule",
         header(PduType::capsule_cmd, 72, 72, 72 + 8193),
         {FatalStatus::invalid_header_field, 4}},
        {"huge capsule",
         header(PduType::capsule_cmd, 72, 72, 0xffffffff),
         {FatalStatus::invalid_header_field, 4}},
        {"above MAXH2CDATA",
         header(PduType::h2c_data, 24, 24, 24 + 65540),
         {FatalStatus::data_limit_exceeded, 0}},
        {"long TermReq", header(PduType::h2c_term_req, 24, 0, 153), {FatalStatus::invalid_header_field, 4}},
    };
    for (const auto& row : table) {
        const auto frame = frame_of(row.header, kRules);
        ASSERT_FALSE(frame) << row.what;
        EXPECT_EQ(frame.error(), row.fault) << row.what;
    }
}

TEST(TargetFrame, NothingComesBeforeIcReqExceptItsEnd) {
    constexpr FrameRules kFresh{};
    EXPECT_TRUE(frame_of(header(PduType::ic_req, 128, 0, 128), kFresh));
    EXPECT_TRUE(frame_of(header(PduType::h2c_term_req, 24, 0, 24), kFresh));
    const auto early = frame_of(header(PduType::capsule_cmd, 72, 0, 72), kFresh);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().status, FatalStatus::sequence_error);
}

TEST(TargetFrame, HoldsTheHostToTheAnnouncedAlignment) {
    FrameRules rules = kRules;
    rules.cpda = 31; // 128 bytes
    EXPECT_FALSE(frame_of(header(PduType::capsule_cmd, 72, 72, 80), rules));
    EXPECT_TRUE(frame_of(header(PduType::capsule_cmd, 72, 128, 136), rules));
}

TEST(TargetFrame, AnAlignmentMayLeaveOnlyALargeOffset) {
    FrameRules rules = kRules;
    rules.cpda = 16; // 68 bytes
    EXPECT_TRUE(frame_of(header(PduType::capsule_cmd, 72, 136, 140), rules));
    EXPECT_FALSE(frame_of(header(PduType::capsule_cmd, 72, 204, 208), rules));
}

TEST(TargetFrame, DigestsLieBehindWhatTheyAreOf) {
    using namespace nvme::pdu_flag;
    FrameRules rules = kRules;
    rules.header_digest = rules.data_digest = true;
    const auto command = frame_of(header(PduType::capsule_cmd, 72, 0, 76, kHeaderDigest), rules);
    ASSERT_TRUE(command);
    EXPECT_EQ(command->header, 76U);
    EXPECT_EQ(command->data, 0U);
    const auto data = frame_of(
        header(PduType::h2c_data, 24, 28, 28 + 512 + 4, kHeaderDigest | kDataDigest | kLastPdu), rules);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->header, 28U);
    EXPECT_EQ(data->data, 512U);
}

TEST(TargetFrame, DigestsAreThereIfAndOnlyIfAgreedOn) {
    using namespace nvme::pdu_flag;
    FrameRules rules = kRules;
    rules.header_digest = rules.data_digest = true;
    struct {
        const char* what;
        nvme::CommonHeader header;
        std::uint32_t field;
    } const table[] = {
        {"no header digest", header(PduType::capsule_cmd, 72, 0, 76, 0), 1},
        {"data digest of no data", header(PduType::capsule_cmd, 72, 0, 76, kHeaderDigest | kDataDigest), 1},
        {"no data digest", header(PduType::h2c_data, 24, 28, 544, kHeaderDigest), 1},
        {"no room for the header digest", header(PduType::capsule_cmd, 72, 0, 72, kHeaderDigest), 4},
        {"data in the header digest", header(PduType::h2c_data, 24, 24, 540, kHeaderDigest | kDataDigest), 3},
        {"digest but no data", header(PduType::h2c_data, 24, 28, 32, kHeaderDigest | kDataDigest), 4},
    };
    for (const auto& row : table) {
        const auto frame = frame_of(row.header, rules);
        ASSERT_FALSE(frame) << row.what;
        EXPECT_EQ(frame.error(), (Fault{FatalStatus::invalid_header_field, row.field})) << row.what;
    }
}

} // namespace
} // namespace mpath::target
