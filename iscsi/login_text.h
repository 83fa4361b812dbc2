// SPDX-License-Identifier: GPL-2.0-only
// The text of login and text PDUs: KEY=VALUE pairs, each ended by a zero byte. RFC 7143, section 6.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mpath::iscsi {

inline constexpr std::size_t kMaxKeyLength = 63;
inline constexpr std::size_t kMaxValueLength = 8192; ///< bytes; none that we understand is longer
/// Of the data segment of one PDU of a login, before anything was agreed on.
inline constexpr std::uint32_t kLoginDataLength = 8192;

struct KeyValue {
    std::string key;
    std::string value; ///< no control characters; whatever else its bytes are

    bool operator==(const KeyValue&) const = default;
};

void append_pair(std::string& text, std::string_view key, std::string_view value);

/// The pairs of `text`, at most `most` of them. EPROTO with a sentence that goes on behind "the target broke
/// the protocol: ".
[[nodiscard]] Result<std::vector<KeyValue>> parse_pairs(std::string_view text, std::size_t most);

/// The value of `key`, if it is there.
[[nodiscard]] std::optional<std::string_view> find_value(std::span<const KeyValue> pairs,
                                                         std::string_view key);

/// A number as a value has it, decimal or "0x…", at most `highest`.
[[nodiscard]] std::optional<std::uint32_t> parse_number(std::string_view value, std::uint32_t highest);

/// What is worth repeating of a value, for sentences and records: not much, and of ASCII alone.
[[nodiscard]] std::string quotable(std::string_view value);

} // namespace mpath::iscsi
