// SPDX-License-Identifier: GPL-2.0-only
#include "path/path_subset.h"

#include <algorithm>
#include <charconv>

namespace mpath {

std::optional<std::size_t> find_path(std::string_view word, std::span<const std::string> names) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) {
        return static_cast<std::size_t>(found - names.begin());
    }
    std::size_t place = 0;
    const char* end = word.data() + word.size();
    const auto [rest, fault] = std::from_chars(word.data(), end, place);
    return fault == std::errc{} && rest == end && place < names.size() ? std::optional(place) : std::nullopt;
}

} // namespace mpath
