// SPDX-License-Identifier: GPL-2.0-only
// The options `paths=` and `path=`: which paths there are, and which of them a job uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/path_uri.h"
#include "multipath/path_view.h"

namespace mpath::job {

inline constexpr std::size_t kMaxPaths = 1024;
inline constexpr std::size_t kMaxPathName = 32; ///< bytes, so that a table's columns stay narrow

struct PathSpec {
    std::string name;
    PathUri uri;

    bool operator==(const PathSpec&) const = default;
};

/// What `path=` selects.
struct PathSelection {
    std::vector<std::uint16_t> indices; ///< into the list, ascending; at least one
    multipath::StateFilter filter = multipath::StateFilter::any;

    bool operator==(const PathSelection&) const = default;
};

/// Comma-separated `[name=]URI`, blanks around an entry allowed. Entries without a name are called p0, p1, …
/// by their place in the list. EINVAL, or ENOTSUP for a kind of path that is known but not spoken, with a
/// sentence that says which entry.
[[nodiscard]] Result<std::vector<PathSpec>> parse_path_list(std::string_view text);

/// `all`; or comma-separated names and indices; or `optimized` or `non-optimized`, which selects all paths
/// and follows their state. The order of the list stays, whatever the order in `text`. EINVAL with the known
/// names when nothing, or something unknown, is named.
[[nodiscard]] Result<PathSelection> parse_path_selection(std::string_view text,
                                                         std::span<const PathSpec> list);

} // namespace mpath::job
