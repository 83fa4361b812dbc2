// SPDX-License-Identifier: GPL-2.0-only
#include "record/text.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace mpath::record {

namespace {

bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// Where character number `index` begins; the end of the text if there are fewer.
std::size_t offset_of(std::string_view text, std::size_t index) {
    std::size_t seen = 0;
    for (std::size_t offset = 0; offset < text.size(); ++offset) {
        if (begins_character(text[offset]) && seen++ == index) {
            return offset;
        }
    }
    return text.size();
}

} // namespace

std::string utc_text(Nanoseconds utc) {
    const auto seconds = static_cast<std::time_t>(utc / kSecond);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), utc % kSecond / kMillisecond);
}

std::size_t text_width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string printable(std::string_view text) {
    std::string clean;
    for (std::size_t offset = 0; offset < text.size(); ++offset) {
        const auto byte = static_cast<unsigned char>(text[offset]);
        const auto next = offset + 1 < text.size() ? static_cast<unsigned char>(text[offset + 1]) : 0U;
        if (byte == 0xC2 && next >= 0x80 && next < 0xA0) { // U+0080 .. U+009F: control characters, too
            clean += '?';
            ++offset;
        } else {
            clean += byte < 0x20 || byte == 0x7F ? '?' : text[offset];
        }
    }
    return clean;
}

std::string clip_end(std::string_view text, std::size_t width) {
    if (text_width(text) <= width) {
        return std::string(text);
    }
    return width == 0 ? "" : std::string(text.substr(0, offset_of(text, width - 1))) + "…";
}

std::string clip_middle(std::string_view text, std::size_t width) {
    const std::size_t length = text_width(text);
    if (length <= width || width < 3) {
        return clip_end(text, width);
    }
    const std::size_t tail = (width - 1) / 2;
    const std::size_t head = width - 1 - tail;
    return std::string(text.substr(0, offset_of(text, head))) + "…" +
           std::string(text.substr(offset_of(text, length - tail)));
}

std::string pad_right(std::string_view text, std::size_t width) {
    const std::size_t length = text_width(text);
    return std::string(text) + std::string(length < width ? width - length : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
    const std::size_t length = text_width(text);
    return std::string(length < width ? width - length : 0, ' ') + std::string(text);
}

} // namespace mpath::record
