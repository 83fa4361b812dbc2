// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace mpath::target::scsi {

namespace {

constexpr std::size_t kMaxKeyName = 63;
constexpr std::size_t kMaxKeys = 256;

int hex_digit(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    const char low = static_cast<char>(letter | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

std::optional<std::string> from_hex(std::string_view digits) {
    std::string bytes;
    std::size_t at = 0;
    unsigned value = 0;
    if (digits.empty()) {
        return std::nullopt;
    }
    for (const char letter : digits) {
        const int digit = hex_digit(letter);
        if (digit < 0) {
            return std::nullopt;
        }
        value = value << 4 | static_cast<unsigned>(digit);
        // An odd number of digits has half a byte in front.
        if ((++at + digits.size()) % 2 == 0) {
            bytes.push_back(static_cast<char>(value));
            value = 0;
        }
    }
    return bytes;
}

std::optional<std::string> from_base64(std::string_view text) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned value = 0;
    unsigned bits = 0;
    while (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    for (const char letter : text) {
        const std::size_t digit = kLetters.find(letter);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        value = (value << 6 | static_cast<unsigned>(digit)) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<char>(value >> bits & 0xff));
        }
    }
    return bytes.empty() ? std::nullopt : std::optional(bytes);
}

} // namespace

std::optional<KeyValues> parse_text(std::string_view text) {
    KeyValues keys;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty()) {
            continue; // some pad with further zero bytes
        }
        const std::size_t equals = pair.find('=');
        if (equals == 0 || equals == std::string_view::npos || equals > kMaxKeyName ||
            keys.size() == kMaxKeys) {
            return std::nullopt;
        }
        keys.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    }
    return keys;
}

void append_key(std::string& text, std::string_view key, std::string_view value) {
    text += key;
    text += '=';
    text += value;
    text += '\0';
}

const std::string* find_key(const KeyValues& keys, std::string_view key) {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [key](const auto& pair) { return pair.first == key; });
    return found == keys.end() ? nullptr : &found->second;
}

std::vector<std::string_view> split_list(std::string_view list) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        words.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    text.remove_prefix(hex ? 2 : 0);
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
    const bool whole = fault == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

std::optional<std::string> parse_binary(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) {
        return from_hex(text.substr(2));
    }
    if (text.starts_with("0b") || text.starts_with("0B")) {
        return from_base64(text.substr(2));
    }
    return std::nullopt;
}

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
    std::string text = "0x";
    for (const std::uint8_t byte : bytes) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

} // namespace mpath::target::scsi
