// SPDX-License-Identifier: GPL-2.0-only
// Text for a terminal. Widths are in characters (UTF-8 code points).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace mpath::record {

/// "2026-11-30T21:19:09.971Z" of nanoseconds since 1970.
std::string utc_text(Nanoseconds utc);

std::size_t text_width(std::string_view text);

/// A peer's text may hold anything: control characters, which could steer a terminal, become '?'.
std::string printable(std::string_view text);

/// At most `width` characters; what does not fit is replaced by '…' at the end, or in the middle so that both
/// ends stay readable (an address begins with the host and ends with the namespace).
std::string clip_end(std::string_view text, std::size_t width);
std::string clip_middle(std::string_view text, std::size_t width);

/// `text` with spaces up to `width`, after it or before it.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

} // namespace mpath::record
