// SPDX-License-Identifier: GPL-2.0-only
// CRC32C digests as NVMe/TCP and iSCSI put them on the wire: four bytes, the lowest first.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "base/crc32c.h"
#include "base/endian.h"

namespace mpath {

inline constexpr std::size_t kDigestSize = 4;

/// What a header lies over; `bytes` must be at least as long.
template <typename T>
T load(std::span<const std::byte> bytes) noexcept {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

inline void store_crc(std::uint32_t crc, std::byte* digest) noexcept {
    const Le32 value = crc;
    std::memcpy(digest, &value, sizeof value);
}

/// Whether the digest of `covered` is stored at `digest`.
inline bool digest_matches(std::span<const std::byte> covered, const std::byte* digest) noexcept {
    return crc32c(covered) == load<Le32>({digest, kDigestSize});
}

inline void store_digest(std::span<const std::byte> covered, std::byte* digest) noexcept {
    store_crc(crc32c(covered), digest);
}

} // namespace mpath
