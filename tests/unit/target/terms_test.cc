// SPDX-License-Identifier: GPL-2.0-only
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "target/terms.h"

namespace mpath::target {
namespace {

using nvme::FatalStatus;

TEST(TargetTerms, RefusesParametersNobodyCanMeet) {
    const Options options;
    nvme::IcReq request;
    EXPECT_TRUE(agree(request, options, nullptr));
    request.pfv = 1;
    EXPECT_EQ(agree(request, options, nullptr).error(), (Fault{FatalStatus::unsupported_parameter, 8}));
    request = {};
    request.hpda = 32;
    EXPECT_EQ(agree(request, options, nullptr).error(), (Fault{FatalStatus::invalid_header_field, 10}));
    request = {};
    request.dgst = 4;
    EXPECT_EQ(agree(request, options, nullptr).error(), (Fault{FatalStatus::invalid_header_field, 11}));
}

TEST(TargetTerms, DigestsAreGrantedAsTheOptionSays) {
    struct {
        Digests rule;
        std::uint8_t asked;
        bool header, data;
    } const table[] = {
        {Digests::as_asked, 0, false, false}, {Digests::as_asked, 1, true, false},
        {Digests::as_asked, 2, false, true},  {Digests::as_asked, 3, true, true},
        {Digests::refused, 3, false, false},  {Digests::forced, 0, true, true},
    };
    for (const auto& row : table) {
        Options options;
        options.digests = row.rule;
        nvme::IcReq request;
        request.dgst = row.asked;
        const auto terms = agree(request, options, nullptr);
        ASSERT_TRUE(terms);
        EXPECT_EQ(terms->header_digest, row.header);
        EXPECT_EQ(terms->data_digest, row.data);
    }
}

TEST(TargetTerms, MaxR2tIsZeroBased) {
    const std::pair<std::uint32_t, std::uint32_t> table[] = {{0, 1}, {7, 8}, {0xffffffff, 0xffffffff}};
    for (const auto& [wire, count] : table) {
        nvme::IcReq request;
        request.maxr2t = wire;
        EXPECT_EQ(agree(request, {}, nullptr)->max_r2t, count);
    }
}

TEST(TargetTerms, VariedLimitsAreLegalAndDiffer) {
    Options options;
    options.vary = true;
    std::set<unsigned> cpdas;
    std::set<unsigned> limits;
    for (std::uint64_t connection = 0; connection < 200; ++connection) {
        Variation variation(options.seed, connection);
        const auto terms = agree(nvme::IcReq{}, options, &variation);
        ASSERT_TRUE(terms);
        EXPECT_LE(terms->cpda, nvme::kMaxPduDataAlignment);
        EXPECT_LE(least_data_offset(sizeof(nvme::CapsuleCmd), terms->cpda), kMaxDataOffset);
        EXPECT_GE(terms->max_h2c_data, nvme::kMinMaxH2cData);
        EXPECT_EQ(terms->max_h2c_data % 4, 0U);
        cpdas.insert(terms->cpda);
        limits.insert(terms->max_h2c_data);
    }
    EXPECT_GT(cpdas.size(), 10U);
    EXPECT_GT(limits.size(), 10U);
}

} // namespace
} // namespace mpath::target
