// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mpath::live {

/// Text in shared memory, clipped to `Size` bytes at a whole UTF-8 character. Written once, by one thread;
/// readers see nothing or all of it. Zero bytes are "not written".
template <std::size_t Size>
class FixedText {
public:
    void set(std::string_view text) noexcept {
        std::size_t length = text.size();
        if (length > Size) {
            length = Size;
            while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) {
                --length;
            }
        }
        std::memcpy(bytes_, text.data(), length);
        std::atomic_ref<std::uint32_t>(length_).store(static_cast<std::uint32_t>(length),
                                                      std::memory_order_release);
    }
    /// Empty when not written.
    [[nodiscard]] std::string get() const {
        return {bytes_, std::atomic_ref<std::uint32_t>(length_).load(std::memory_order_acquire)};
    }

private:
    alignas(4) mutable std::uint32_t length_; // mutable: C++20's atomic_ref takes no const object
    char bytes_[Size];
};

} // namespace mpath::live
