// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace mpath::fuzz {

/// A harness's input, taken from the front. What is missing at the end is zero.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

    template <typename T>
    T take() {
        T value{};
        const auto bytes = take(sizeof value);
        std::memcpy(reinterpret_cast<std::byte*>(&value), bytes.data(), bytes.size());
        return value;
    }
    std::span<const std::byte> take(std::size_t most) {
        const auto bytes = rest_.first(std::min(most, rest_.size()));
        rest_ = rest_.subspan(bytes.size());
        return bytes;
    }
    [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

private:
    std::span<const std::byte> rest_;
};

/// Ends the harness, and with it the fuzzer, which then keeps the input.
inline void require(bool condition, const char* what) {
    if (!condition) {
        std::fprintf(stderr, "not so: %s\n", what);
        std::abort();
    }
}

} // namespace mpath::fuzz
