// SPDX-License-Identifier: GPL-2.0-only
// Text as login and text PDUs carry it: KEY=VALUE, each ended by a zero byte. RFC 7143, section 6.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpath::target::scsi {

/// In the order they came in; keys and values as they were written.
using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// Nothing: it is no such text, or too much of it.
std::optional<KeyValues> parse_text(std::string_view text);

void append_key(std::string& text, std::string_view key, std::string_view value);

/// The value of the first that is `key`; nullptr: there is none.
const std::string* find_key(const KeyValues& keys, std::string_view key);

/// "A,B,C" taken apart.
std::vector<std::string_view> split_list(std::string_view list);

/// Decimal or 0x..., as numerical values are written (section 6.1).
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Binary values: 0x... or 0b... (base64). Nothing: it is neither.
std::optional<std::string> parse_binary(std::string_view text);
std::string hexadecimal(std::span<const std::uint8_t> bytes);

} // namespace mpath::target::scsi
