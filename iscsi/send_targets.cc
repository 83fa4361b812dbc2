// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/send_targets.h"

#include <algorithm>

#include "iscsi/login_text.h"
#include "iscsi/name.h"

namespace mpath::iscsi {

namespace {

constexpr std::size_t kMaxSendTargetsPairs = 8192;

/// The target of that name, which is added if it is a new one.
DiscoveredTarget& target_named(std::vector<DiscoveredTarget>& targets, std::string_view name) {
    const auto found = std::find_if(targets.begin(), targets.end(),
                                    [name](const DiscoveredTarget& target) { return target.name == name; });
    return found != targets.end() ? *found : targets.emplace_back(DiscoveredTarget{std::string(name), {}});
}

} // namespace

Result<std::vector<DiscoveredTarget>> parse_send_targets(std::string_view text) {
    const auto pairs = parse_pairs(text, kMaxSendTargetsPairs);
    if (!pairs) {
        return failure_in("the target broke the protocol", pairs.error());
    }
    std::vector<DiscoveredTarget> targets;
    DiscoveredTarget* current = nullptr;
    for (const auto& [key, value] : *pairs) {
        if (key == "TargetName") {
            if (const auto good = check_name(value); !good) {
                return failure(EPROTO, "the target broke the protocol: TargetName={}: {}", quotable(value),
                               good.error().text);
            }
            current = &target_named(targets, value);
        } else if (key == "TargetAddress") {
            const auto portal = parse_portal(value);
            if (!portal) {
                return tl::unexpected(portal.error());
            }
            if (current == nullptr) {
                return failure(EPROTO, "the target broke the protocol: TargetAddress={} is of no target",
                               quotable(value));
            }
            if (std::find(current->portals.begin(), current->portals.end(), *portal) ==
                current->portals.end()) {
                current->portals.push_back(*portal);
            }
        } else if (key == "SendTargets") {
            return failure(ENOTSUP, "the target does not answer SendTargets: {}", quotable(value));
        }
    }
    return targets;
}

} // namespace mpath::iscsi
