// SPDX-License-Identifier: GPL-2.0-only
// Integers with a byte order in their type: a wire structure made of these can be laid over received
// bytes at any address, and a native integer can't slip in unconverted.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mpath {

template <std::unsigned_integral T, std::endian Order>
class Ordered {
public:
    constexpr Ordered() = default;
    constexpr Ordered(T value) { set(value); } // NOLINT(google-explicit-constructor): assignment reads well
    constexpr operator T() const { return get(); }

    [[nodiscard]] constexpr T get() const {
        T value = std::bit_cast<T>(bytes_);
        return Order == std::endian::native ? value : swap(value);
    }
    constexpr void set(T value) {
        bytes_ = std::bit_cast<std::array<std::byte, sizeof(T)>>(Order == std::endian::native ? value
                                                                                              : swap(value));
    }

private:
    static constexpr T swap(T value) {
        if constexpr (sizeof(T) == 1) {
            return value;
        } else if constexpr (sizeof(T) == 2) {
            return __builtin_bswap16(value);
        } else if constexpr (sizeof(T) == 4) {
            return __builtin_bswap32(value);
        } else {
            return __builtin_bswap64(value);
        }
    }

    std::array<std::byte, sizeof(T)> bytes_{};
};

using Le16 = Ordered<std::uint16_t, std::endian::little>;
using Le32 = Ordered<std::uint32_t, std::endian::little>;
using Le64 = Ordered<std::uint64_t, std::endian::little>;
using Be16 = Ordered<std::uint16_t, std::endian::big>;
using Be32 = Ordered<std::uint32_t, std::endian::big>;
using Be64 = Ordered<std::uint64_t, std::endian::big>;

static_assert(sizeof(Le64) == 8 && alignof(Le64) == 1);

} // namespace mpath
