// SPDX-License-Identifier: GPL-2.0-only
// What `fio-mpath discover` found at an iSCSI portal, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "iscsi/discovery.h"

namespace mpath::cli {

struct FoundTarget {
    iscsi::DiscoveredTarget target;
    Result<std::vector<std::uint64_t>> luns; ///< that it shows this host
};

/// Which portal answered, the portals of each target, and a `paths=` line for each LUN. LUN 0 is assumed
/// where a target could not be asked.
[[nodiscard]] std::string portal_table(const std::string& address, const std::vector<FoundTarget>& targets);

[[nodiscard]] nlohmann::ordered_json portal_json(const std::string& address,
                                                 const std::vector<FoundTarget>& targets);

} // namespace mpath::cli
