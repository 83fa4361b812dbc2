// SPDX-License-Identifier: GPL-2.0-only
// What `fio-mpath discover` found, as a table and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "nvme/discovery.h"

namespace mpath::cli {

struct FoundSubsystem {
    std::string nqn;
    std::vector<nvme::DiscoveredPort> ports;  ///< in the order they were found; at least one
    Result<std::vector<std::uint32_t>> nsids; ///< that the subsystem shows this host
};

/// Subsystems in the order of their first port, with no namespaces yet.
[[nodiscard]] std::vector<FoundSubsystem> by_subsystem(const nvme::Discovery& found);

/// Paths to a namespace through all ports of the subsystem that can be used, ready to stand behind `paths=`
/// in a job file; empty when none can.
[[nodiscard]] std::string paths_text(const FoundSubsystem& subsystem, std::uint32_t nsid);

/// Which services answered, the ports of each subsystem, and a `paths=` line for each namespace. Namespace 1
/// is assumed where a subsystem could not be asked.
[[nodiscard]] std::string discovery_table(const nvme::Discovery& found,
                                          const std::vector<FoundSubsystem>& subsystems);

[[nodiscard]] nlohmann::ordered_json discovery_json(const nvme::Discovery& found,
                                                    const std::vector<FoundSubsystem>& subsystems);

} // namespace mpath::cli
