// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mpath {

/// CRC32C (Castagnoli; RFC 3720, appendix B.4), as NVMe/TCP's and iSCSI's digests use it. In pieces: the
/// first one starts from kCrc32cBegin, each next one from the state before, and the digest is crc32c_end() of
/// the last state.
inline constexpr std::uint32_t kCrc32cBegin = 0xffffffff;

[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t state) noexcept;

[[nodiscard]] constexpr std::uint32_t crc32c_end(std::uint32_t state) noexcept {
    return ~state;
}

/// The digest of bytes that lie together.
[[nodiscard]] inline std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
    return crc32c_end(crc32c(bytes, kCrc32cBegin));
}

} // namespace mpath
