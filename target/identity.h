// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mpath::target {

/// What tells a namespace from every other, whatever path shows it.
struct Identity {
    std::array<std::uint8_t, 16> uuid{};
    std::array<std::uint8_t, 16> nguid{};
    std::array<std::uint8_t, 8> eui64{};
};

/// The same for the same text and number, in every process: two targets told the same text show one device.
Identity derive_identity(std::string_view text, std::uint32_t nsid);

/// A text nobody else has.
std::string random_device_id();

} // namespace mpath::target
