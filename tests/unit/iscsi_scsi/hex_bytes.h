// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpath::iscsi::test {

using Bytes = std::vector<std::byte>;

/// What a device sends, as the standards print it: "70 00 05"; blanks are for the reader.
inline Bytes hex(std::string_view digits) {
    std::string text;
    for (const char c : digits) {
        if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
            text += c;
        }
    }
    Bytes bytes;
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(at, 2), nullptr, 16)));
    }
    return bytes;
}

inline Bytes text(std::string_view characters) {
    const auto bytes = std::as_bytes(std::span(characters));
    return {bytes.begin(), bytes.end()};
}

inline Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

} // namespace mpath::iscsi::test
