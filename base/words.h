// SPDX-License-Identifier: GPL-2.0-only
// Options that are lists of words.
#pragma once

#include <string_view>
#include <vector>

namespace mpath {

/// Without blanks and tabs at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The parts between separators, each trimmed; one more than there are separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

} // namespace mpath
