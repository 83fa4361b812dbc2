// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "iscsi/portal.h"

namespace mpath::iscsi {

inline constexpr std::size_t kMaxSendTargetsText = 1024 * 1024; ///< bytes of an answer in all its PDUs

/// A target and where it can be reached.
struct DiscoveredTarget {
    std::string name;
    std::vector<Portal> portals; ///< each once

    bool operator==(const DiscoveredTarget&) const = default;
};

/// What a target answers to SendTargets, all PDUs of it together: TargetName, then the TargetAddresses of
/// that one, again and again (RFC 7143, appendix C). Each target once. Names without an address have no
/// portals: they are at the address that was asked. EPROTO with a sentence.
[[nodiscard]] Result<std::vector<DiscoveredTarget>> parse_send_targets(std::string_view text);

} // namespace mpath::iscsi
