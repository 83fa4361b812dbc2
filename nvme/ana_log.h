// SPDX-License-Identifier: GPL-2.0-only
// The Asymmetric Namespace Access log as a value. NVM Express Base Specification, "Asymmetric Namespace
// Access".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "path/state.h"

namespace mpath::nvme {

struct AnaGroup {
    std::uint32_t id = 0;
    PathState state = PathState::optimized;
    std::uint64_t change_count = 0;
    std::vector<std::uint32_t> nsids;
};

struct AnaLog {
    std::uint64_t change_count = 0;
    std::vector<AnaGroup> groups;

    /// The group of a namespace: the one that lists it, or else the one Identify Namespace named (ANAGRPID).
    [[nodiscard]] const AnaGroup* group_of(std::uint32_t nsid, std::uint32_t identified_group) const;
};

/// What Identify Controller lets a log contain.
struct AnaLimits {
    std::uint32_t max_group = 0;      ///< ANAGRPMAX
    std::uint32_t max_namespaces = 0; ///< NN
};

/// What the first bytes of a log tell: the whole log, or how many bytes it has at least (more than given).
struct AnaLogPart {
    std::optional<AnaLog> log;
    std::size_t needs = 0;
};

/// `bytes`: a log from its start, as much as was read. A log that breaks a rule is refused as a whole, with
/// EPROTO and the rule: Linux does the same.
[[nodiscard]] Result<AnaLogPart> decode_ana_log(std::span<const std::byte> bytes, const AnaLimits& limits);

} // namespace mpath::nvme
