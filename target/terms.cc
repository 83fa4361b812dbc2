// SPDX-License-Identifier: GPL-2.0-only
#include "target/terms.h"

#include <cstddef>
#include <limits>

namespace mpath::target {

namespace {

constexpr std::uint8_t kHeaderDigestBit = 1U << 0;
constexpr std::uint8_t kDataDigestBit = 1U << 1;
constexpr std::uint8_t kDigestBits = kHeaderDigestBit | kDataDigestBit;
constexpr std::uint32_t kMostMaxH2cData = 64 * 1024; // of those picked at random

tl::unexpected<Fault> fault(nvme::FatalStatus status, std::size_t offset) {
    return tl::unexpected(Fault{status, static_cast<std::uint32_t>(offset)});
}

std::uint8_t granted(std::uint8_t asked, Digests rule) {
    switch (rule) {
    case Digests::refused:
        return 0;
    case Digests::forced:
        return kDigestBits;
    default:
        return asked;
    }
}

} // namespace

tl::expected<Terms, Fault> agree(const nvme::IcReq& request, const Options& options, Variation* variation) {
    if (request.pfv != 0) {
        return fault(nvme::FatalStatus::unsupported_parameter, offsetof(nvme::IcReq, pfv));
    }
    if (request.hpda > nvme::kMaxPduDataAlignment) {
        return fault(nvme::FatalStatus::invalid_header_field, offsetof(nvme::IcReq, hpda));
    }
    if ((request.dgst & ~kDigestBits) != 0) {
        return fault(nvme::FatalStatus::invalid_header_field, offsetof(nvme::IcReq, dgst));
    }
    Terms terms;
    terms.hpda = request.hpda;
    terms.cpda = options.cpda;
    const std::uint8_t digests = granted(request.dgst, options.digests);
    terms.header_digest = (digests & kHeaderDigestBit) != 0;
    terms.data_digest = (digests & kDataDigestBit) != 0;
    const std::uint32_t zero_based = request.maxr2t;
    terms.max_r2t = zero_based == std::numeric_limits<std::uint32_t>::max() ? zero_based : zero_based + 1;
    terms.max_h2c_data = options.max_h2c_data;
    if (options.vary) {
        const std::uint32_t capsule = sizeof(nvme::CapsuleCmd) + (terms.header_digest ? kDigestSize : 0);
        do { // not one that pushes data behind an offset which some hosts take for the last
            terms.cpda = static_cast<std::uint8_t>(variation->pick(nvme::kMaxPduDataAlignment + 1U));
        } while (least_data_offset(capsule, terms.cpda) > kMaxDataOffset);
        terms.max_h2c_data =
            nvme::kMinMaxH2cData + 4 * variation->pick((kMostMaxH2cData - nvme::kMinMaxH2cData) / 4 + 1);
    }
    return terms;
}

} // namespace mpath::target
