// SPDX-License-Identifier: GPL-2.0-only
#include "target/identity.h"

#include <random>

#include <fmt/format.h>

namespace mpath::target {

namespace {

/// FNV-1a over the text, then a mixer, as single characters must change every bit.
std::uint64_t hash(std::string_view text, std::uint64_t salt) {
    std::uint64_t value = 0xcbf29ce484222325ULL ^ salt;
    for (const char letter : text) {
        value = (value ^ static_cast<std::uint8_t>(letter)) * 0x100000001b3ULL;
    }
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

template <std::size_t N>
void fill(std::array<std::uint8_t, N>& bytes, std::string_view text, std::uint64_t salt) {
    for (std::size_t i = 0; i < N; ++i) {
        bytes[i] = static_cast<std::uint8_t>(hash(text, salt + i / 8) >> (8 * (i % 8)));
    }
}

} // namespace

Identity derive_identity(std::string_view text, std::uint32_t nsid) {
    const std::string full = fmt::format("{}/{}", text, nsid);
    Identity identity;
    fill(identity.uuid, full, 0x100);
    identity.uuid[6] = static_cast<std::uint8_t>((identity.uuid[6] & 0x0f) | 0x80); // RFC 9562, version 8
    identity.uuid[8] = static_cast<std::uint8_t>((identity.uuid[8] & 0x3f) | 0x80); // and its variant
    fill(identity.nguid, full, 0x200);
    fill(identity.eui64, full, 0x300);
    return identity;
}

std::string random_device_id() {
    std::random_device entropy;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", entropy(), entropy(), entropy(), entropy());
}

} // namespace mpath::target
