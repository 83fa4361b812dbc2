// SPDX-License-Identifier: GPL-2.0-only
// Building the structures that a controller answers with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace mpath::target {

/// Text padded with spaces, as Identify wants it.
template <std::size_t N>
void put_padded(std::array<char, N>& field, std::string_view text) {
    field.fill(' ');
    std::copy_n(text.begin(), std::min(text.size(), N), field.begin());
}

/// Appends a wire structure.
template <typename T>
void append(std::vector<std::byte>& bytes, const T& structure) {
    const auto* from = reinterpret_cast<const std::byte*>(&structure);
    bytes.insert(bytes.end(), from, from + sizeof(T));
}

} // namespace mpath::target
