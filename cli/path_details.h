// SPDX-License-Identifier: GPL-2.0-only
// What `fio-mpath paths` says of a path that only its protocol knows.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/path_report.h"

namespace mpath::cli {

/// "p0": the path's place on the command line.
[[nodiscard]] std::string name_of(std::size_t index);

/// "4 KiB", "1.5 GiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// null for a value that is not known.
[[nodiscard]] nlohmann::ordered_json or_null(bool known, const auto& value) {
    return known ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// "controller 1, NVMe 2.0"; "portal group 1, LUN 0". Precondition: the path answered.
[[nodiscard]] std::string peer_text(const FoundPath& path);

/// A table for each protocol that a path which answered speaks: states, and what was negotiated.
[[nodiscard]] std::string state_tables(const std::vector<FoundPath>& paths);

/// Adds the protocol's own to what all paths have. Precondition: the path answered.
void add_details(nlohmann::ordered_json& json, const FoundPath& path);

} // namespace mpath::cli
