// SPDX-License-Identifier: GPL-2.0-only
#include "job/path_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "base/words.h"
#include "path/path_subset.h"

namespace mpath::job {

namespace {

constexpr std::array<std::string_view, 3> kReservedNames = {"all", "optimized", "non-optimized"};

bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The name before a '=', which can only stand before the first ':' or '/': the rest may contain it.
std::pair<std::optional<std::string_view>, std::string_view> split_name(std::string_view entry) {
    const std::size_t end = entry.find_first_of("=:/");
    if (end == std::string_view::npos || entry[end] != '=') {
        return {std::nullopt, entry};
    }
    return {trimmed(entry.substr(0, end)), trimmed(entry.substr(end + 1))};
}

/// Letters, digits, '-', '_' and '.', a letter first: what is left of ',' '=' '+' '/' '@' ':' is free for
/// options that combine names, and no name can be taken for an index.
Result<void> check_name(std::string_view name) {
    if (name.empty()) {
        return failure(EINVAL, "the name before '=' is empty");
    }
    if (name.size() > kMaxPathName) {
        return failure(EINVAL, "the name '{}' is longer than {} characters", name, kMaxPathName);
    }
    const bool good =
        is_letter(name.front()) && std::all_of(name.begin(), name.end(), [](char c) {
            return is_letter(c) || is_digit(c) || std::string_view("-_.").find(c) != std::string_view::npos;
        });
    if (!good) {
        return failure(EINVAL,
                       "the name '{}' must begin with a letter and consist of letters, digits, '-', '_' "
                       "and '.'",
                       name);
    }
    if (std::find(kReservedNames.begin(), kReservedNames.end(), name) != kReservedNames.end()) {
        return failure(EINVAL, "the name '{}' is reserved, because path={} means something else", name, name);
    }
    return {};
}

Result<PathSpec> parse_entry(std::string_view entry, std::size_t index) {
    if (entry.empty()) {
        return failure(EINVAL, "is empty");
    }
    const auto [name, uri_text] = split_name(entry);
    if (name) {
        if (auto good = check_name(*name); !good) {
            return tl::unexpected(good.error());
        }
    }
    auto uri = parse_path_uri(uri_text);
    if (!uri) {
        return tl::unexpected(uri.error());
    }
    return PathSpec{name ? std::string(*name) : fmt::format("p{}", index), std::move(*uri)};
}

std::vector<std::string> names_of(std::span<const PathSpec> list) {
    std::vector<std::string> names;
    names.reserve(list.size());
    for (const PathSpec& path : list) {
        names.push_back(path.name);
    }
    return names;
}

PathSelection all_of(std::span<const PathSpec> list, multipath::StateFilter filter) {
    PathSelection selection;
    selection.indices.resize(list.size());
    std::iota(selection.indices.begin(), selection.indices.end(), std::uint16_t{0});
    selection.filter = filter;
    return selection;
}

} // namespace

Result<std::vector<PathSpec>> parse_path_list(std::string_view text) {
    if (trimmed(text).empty()) {
        return failure(
            EINVAL,
            "paths= names no path; write paths=[name=]URI,… with nvme+tcp://host[:port]/subnqn/nsid or "
            "iscsi://[user@]host[:port]/target/lun");
    }
    const auto entries = split(text, ',');
    if (entries.size() > kMaxPaths) {
        return failure(EINVAL, "paths= lists {} paths, at most {} are possible", entries.size(), kMaxPaths);
    }
    std::vector<PathSpec> list;
    std::vector<std::string> names;
    for (const std::string_view entry : entries) {
        const std::size_t number = list.size() + 1;
        auto path = parse_entry(entry, list.size());
        if (!path) {
            return failure_in(fmt::format("paths= entry {}", number), path.error());
        }
        const auto same = find_path(path->name, names);
        if (same) {
            return failure(EINVAL, "paths= entry {}: the name {} is that of entry {} already", number,
                           path->name, *same + 1);
        }
        names.push_back(path->name);
        list.push_back(std::move(*path));
    }
    return list;
}

Result<PathSelection> parse_path_selection(std::string_view text, std::span<const PathSpec> list) {
    const auto words = split(text, ',');
    const std::vector<std::string> names = names_of(list);
    if (words.size() == 1) {
        const std::string_view word = words.front();
        if (word == "all") {
            return all_of(list, multipath::StateFilter::any);
        }
        if (word == "optimized") {
            return all_of(list, multipath::StateFilter::optimized);
        }
        if (word == "non-optimized") {
            return all_of(list, multipath::StateFilter::non_optimized);
        }
        if (word.empty()) {
            return failure(EINVAL, "path= names no path; paths= has {}", fmt::join(names, ", "));
        }
    }
    PathSelection selection;
    for (const std::string_view word : words) {
        if (std::find(kReservedNames.begin(), kReservedNames.end(), word) != kReservedNames.end()) {
            return failure(EINVAL, "path={}: '{}' stands alone, not beside other paths", text, word);
        }
        const auto index = find_path(word, names);
        if (!index) {
            return failure(EINVAL, "path={}: '{}' is no path; paths= has {} (indices 0 to {})", text, word,
                           fmt::join(names, ", "), list.size() - 1);
        }
        selection.indices.push_back(static_cast<std::uint16_t>(*index));
    }
    std::sort(selection.indices.begin(), selection.indices.end());
    const auto end = std::unique(selection.indices.begin(), selection.indices.end());
    selection.indices.erase(end, selection.indices.end());
    return selection;
}

} // namespace mpath::job
