// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace mpath::iscsi {

namespace {

constexpr std::size_t kQuotable = 80; ///< characters

/// Section 6.1, "key-name", without the rule that a capital begins it.
bool may_be_in_a_key(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view(".-+@_/").find(c) != std::string_view::npos;
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

Result<KeyValue> parse_pair(std::string_view pair) {
    const std::size_t equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    if (key.empty() || key.size() > kMaxKeyLength || !std::all_of(key.begin(), key.end(), may_be_in_a_key)) {
        return failure(EPROTO, "its text has a key that is none");
    }
    if (equals == std::string_view::npos) {
        return failure(EPROTO, "its text has the key {} without a value", key);
    }
    const std::string_view value = pair.substr(equals + 1);
    if (value.size() > kMaxValueLength) {
        return failure(EPROTO, "its value of {} has {} bytes, at most {} are allowed", key, value.size(),
                       kMaxValueLength);
    }
    if (std::any_of(value.begin(), value.end(), is_control)) {
        return failure(EPROTO, "its value of {} has control characters", key);
    }
    return KeyValue{std::string(key), std::string(value)};
}

} // namespace

void append_pair(std::string& text, std::string_view key, std::string_view value) {
    text.append(key).append("=").append(value).push_back('\0');
}

Result<std::vector<KeyValue>> parse_pairs(std::string_view text, std::size_t most) {
    std::vector<KeyValue> pairs;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty()) {
            continue; // padding that was counted as data
        }
        if (pairs.size() == most) {
            return failure(EPROTO, "its text has more than {} keys", most);
        }
        Result<KeyValue> parsed = parse_pair(pair);
        if (!parsed) {
            return tl::unexpected(std::move(parsed.error()));
        }
        pairs.push_back(std::move(*parsed));
    }
    return pairs;
}

std::optional<std::string_view> find_value(std::span<const KeyValue> pairs, std::string_view key) {
    const auto found =
        std::find_if(pairs.begin(), pairs.end(), [key](const KeyValue& pair) { return pair.key == key; });
    return found == pairs.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

std::optional<std::uint32_t> parse_number(std::string_view value, std::uint32_t highest) {
    const bool hex = value.starts_with("0x") || value.starts_with("0X");
    const std::string_view digits = hex ? value.substr(2) : value;
    std::uint32_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, number, hex ? 16 : 10);
    if (problem != std::errc() || stop != end || number > highest) {
        return std::nullopt;
    }
    return number;
}

std::string quotable(std::string_view value) {
    std::string text(value.substr(0, kQuotable));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    return text;
}

} // namespace mpath::iscsi
