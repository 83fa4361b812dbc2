// SPDX-License-Identifier: GPL-2.0-only
// CHAP's computations: RFC 1994, and RFC 7143 section 12.1.3 for how they stand in iSCSI's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mpath::iscsi {

/// The values are those of CHAP_A: IANA's "PPP Authentication Algorithms".
enum class ChapAlgorithm : std::uint8_t { md5 = 5, sha1 = 6, sha256 = 7, sha3_256 = 8 };

inline constexpr std::size_t kMaxChapBinary = 1024; ///< bytes of a challenge or response

/// What CHAP_A offers, most wanted first. 7 is last because tgt computes SHA-1 where it says 7.
inline constexpr std::string_view kChapOffer = "8,6,5,7";

[[nodiscard]] std::optional<ChapAlgorithm> chap_algorithm(std::string_view number);

/// Bytes of a response.
[[nodiscard]] std::size_t response_size(ChapAlgorithm algorithm);

/// What answers `challenge`. ENOTSUP where this host's OpenSSL does not have the algorithm (FIPS and MD5).
[[nodiscard]] Result<std::vector<std::byte>> chap_response(ChapAlgorithm algorithm, std::uint8_t identifier,
                                                           std::string_view secret,
                                                           std::span<const std::byte> challenge);

/// As long as a response, of a cryptographic random generator.
[[nodiscard]] Result<std::vector<std::byte>> chap_challenge(ChapAlgorithm algorithm);

/// "0x…".
[[nodiscard]] std::string binary_text(std::span<const std::byte> bytes);

/// The bytes that "0x…" (hexadecimal) or "0b…" (base64) stand for, 1 to kMaxChapBinary of them.
[[nodiscard]] std::optional<std::vector<std::byte>> parse_binary(std::string_view text);

/// Takes as long wherever they differ.
[[nodiscard]] bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

} // namespace mpath::iscsi
