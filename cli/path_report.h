// SPDX-License-Identifier: GPL-2.0-only
// What `fio-mpath paths` found, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "job/probe.h"

namespace mpath::cli {

/// One URI and what is behind it.
struct FoundPath {
    std::string uri;
    job::FoundFacts facts;
};

/// Whether the paths that answered lead to one device.
enum class SameDevice : std::uint8_t {
    one_path, ///< nothing to compare
    yes,
    no,
    unknown, ///< a namespace without UUID, NGUID and EUI64 can't be recognised
};

[[nodiscard]] SameDevice same_device(const std::vector<FoundPath>& paths);

/// At most 100 columns. Paths that failed are left out, their sentences go to stderr.
[[nodiscard]] std::string path_table(const std::vector<FoundPath>& paths);

/// Numbers in bytes and milliseconds; null for what is not known.
[[nodiscard]] nlohmann::ordered_json path_json(const std::vector<FoundPath>& paths);

} // namespace mpath::cli
